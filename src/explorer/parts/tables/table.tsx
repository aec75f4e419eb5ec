import { Component, type ComponentChildren, type RefObject, render, type VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { loaded } from '../../build.ts'
import { place } from '../../router.ts'
import { texts } from '../../texts.ts'
import { isSame } from '../same.ts'
import { Empty } from '../states.tsx'
import { ariaRowIndex, useDrawnParts } from './long-list.ts'

/** A table, which becomes a list of cards in a narrow window. */

export interface Column<Row> {
  readonly head: string
  /** Renders a cell from the row alone, because an unchanged row is not rendered again. */
  readonly cell: (row: Row) => ComponentChildren
  /** Whether the cell is aligned to the end, as numbers are. */
  readonly isNumber?: boolean
}

/** Everything about a table but its rows. */
export interface TableDefinition<Row> {
  /** Caption for screen readers. */
  readonly caption: string
  /** Returns a key that is unique in the table and stable over time. */
  readonly keyOf: (row: Row) => string
  readonly columns: readonly Column<Row>[]
  readonly empty: ComponentChildren
}

interface TableProps<Row> extends TableDefinition<Row> {
  readonly rows: readonly Row[]
  /** Whether rows that are added later are highlighted. */
  readonly isLive?: boolean
}

/** Maximum number of rows that are all rendered; of a longer table only the rows near the window are. */
const maxRendered = 100

export function Table<Row>({ caption, keyOf, columns, empty, isLive, ...given }: TableProps<Row>) {
  const known = useRef<ReadonlyMap<string, Row> | undefined>(undefined)
  const table = useRef<HTMLTableElement>(null)
  const isLong = given.rows.length > maxRendered
  const widths = useFixedWidths(table, isLong)
  useKeptPosition(table)
  const before = known.current
  // A new response contains unchanged rows as new objects. They are replaced by the former objects.
  const rows = given.rows.map((row) => {
    const former = before?.get(keyOf(row))
    return former !== undefined && isSame(former, row) ? former : row
  })
  known.current = new Map(rows.map((row) => [keyOf(row), row]))
  if (rows.length === 0) return <Empty>{empty}</Empty>
  const draw = (row: Row, n: number) => {
    const key = keyOf(row)
    const hasArrived = isLive === true && before !== undefined && !before.has(key)
    return <TableRow key={key} n={n} row={row} columns={columns} hasArrived={hasArrived} />
  }
  // The roles are explicit, because a table with another CSS layout loses its implicit roles.
  return (
    <>
      <table
        role="table"
        ref={table}
        class={widths === undefined ? undefined : 'fixed'}
        aria-rowcount={rows.length + 1}
      >
        <caption class="unseen">{caption}</caption>
        {widths !== undefined && (
          <colgroup>
            {widths.map((width, n) => (
              <col key={columns[n]?.head} style={{ width }} />
            ))}
          </colgroup>
        )}
        <Head of={columns} />
        {isLong ? (
          <LongBody rows={rows} draw={draw} columnCount={columns.length} />
        ) : (
          <tbody role="rowgroup">{rows.map(draw)}</tbody>
        )}
      </table>
      <AsCsv caption={caption} columns={columns} rows={rows} />
    </>
  )
}

/** A button that saves a list as a CSV file, whether or not it is shown as a table. */
export function AsCsv<Row>({
  caption,
  columns,
  rows,
}: Pick<TableProps<Row>, 'caption' | 'columns' | 'rows'>) {
  return (
    <p class="as-csv">
      <button
        type="button"
        aria-label={texts.asCsv(caption)}
        onClick={() => void save(caption, columns, rows)}
      >
        {texts.csv}
      </button>
    </p>
  )
}

function Head<Row>({ of: columns }: { readonly of: readonly Column<Row>[] }) {
  return (
    <thead role="rowgroup">
      <tr role="row" aria-rowindex={1}>
        {columns.map(({ head, isNumber }) => (
          <th key={head} role="columnheader" scope="col" class={isNumber ? 'number' : undefined}>
            {head}
          </th>
        ))}
      </tr>
    </thead>
  )
}

interface LongBodyProps<Row> {
  readonly rows: readonly Row[]
  readonly draw: (row: Row, n: number) => VNode
  readonly columnCount: number
}

function LongBody<Row>({ rows, draw, columnCount }: LongBodyProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const parts = useDrawnParts(body, rows.length)
  return (
    <tbody role="rowgroup" ref={body}>
      {/* The rows are one flat list: rows in nested lists would be created again when their list moves. */}
      {parts.flatMap((part) =>
        part.is === 'ROWS'
          ? rows.slice(part.from, part.to).map((row, n) => draw(row, part.from + n))
          : [
              <tr key={`gap ${part.from}`} class="gap" aria-hidden="true">
                <td colSpan={columnCount} style={{ height: `${part.height}px` }} />
              </tr>,
            ],
      )}
    </tbody>
  )
}

interface CellsProps<Row> {
  readonly row: Row
  readonly columns: readonly Column<Row>[]
}

interface RowProps<Row> extends CellsProps<Row> {
  readonly n: number
  readonly hasArrived: boolean
}

function TableRow<Row>({ n, row, columns, hasArrived }: RowProps<Row>) {
  return (
    <tr
      role="row"
      aria-rowindex={ariaRowIndex(n)}
      class={hasArrived ? 'arrived' : undefined}
      data-row
    >
      <Cells row={row} columns={columns} />
    </tr>
  )
}

/**
 * The cells of a row, rendered again only for another row. Elements cached by `useMemo` would do the same, but they would retain the
 * whole table of their time with its cached rows: scrolling would keep everything that was ever rendered in memory.
 */
class Cells<Row> extends Component<CellsProps<Row>> {
  override shouldComponentUpdate({ row, columns }: CellsProps<Row>) {
    return row !== this.props.row || columns !== this.props.columns
  }

  override render({ row, columns }: CellsProps<Row>) {
    return columns.map(({ head, cell, isNumber }, n) => (
      <td
        key={head}
        role={n === 0 ? 'rowheader' : 'cell'}
        data-head={head}
        class={isNumber ? 'number' : undefined}
      >
        {cell(row)}
      </td>
    ))
  }
}

/** Moves the focus to the row at the same position when its own row leaves the table, as the oldest row of a live list does. */
function useKeptPosition({ current: table }: RefObject<HTMLTableElement | null>): void {
  const { activeElement } = document
  const row = table?.contains(activeElement) ? activeElement?.closest('tr') : null
  const position = row?.rowIndex ?? 0
  useLayoutEffect(() => {
    if (row == null || table == null || row.isConnected) return
    const { rows } = table
    rows[Math.min(position, rows.length - 1)]?.querySelector('a')?.focus({ preventScroll: true })
  })
}

/** Column widths of a long table, measured with its first rows, so that the columns do not move while other rows are rendered. */
function useFixedWidths(table: RefObject<HTMLTableElement | null>, isLong: boolean) {
  const [widths, setWidths] = useState<readonly string[] | undefined>(undefined)
  useLayoutEffect(() => {
    if (!isLong || widths !== undefined || table.current === null) return
    const all = table.current.offsetWidth
    const heads = [...(table.current.tHead?.rows[0]?.cells ?? [])]
    setWidths(heads.map((head) => `${(100 * head.offsetWidth) / all}%`))
  })
  useEffect(() => {
    const forget = () => setWidths(undefined)
    addEventListener('resize', forget)
    return () => removeEventListener('resize', forget)
  }, [])
  return isLong ? widths : undefined
}

/** Saves a table; the code that writes the file is loaded on first use. */
async function save<Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): Promise<void> {
  const file = await loaded(import('./table-file.ts'))
  await file?.saveTable(renderInParts(columns, rows), place.peek()?.name ?? '', caption)
}

/** Renders all rows of a table outside of the page, some at a time. */
function* renderInParts<Row>(columns: readonly Column<Row>[], rows: readonly Row[]) {
  for (let from = 0; from < rows.length; from += maxRendered) {
    const table = document.createElement('table')
    const some = rows.slice(from, from + maxRendered)
    render(
      <>
        <Head of={columns} />
        <tbody>
          {some.map((row, n) => (
            <TableRow key={n} n={n} row={row} columns={columns} hasArrived={false} />
          ))}
        </tbody>
      </>,
      table,
    )
    yield table
    render(null, table)
  }
}
