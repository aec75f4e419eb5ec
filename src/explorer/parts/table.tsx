import { Component, type ComponentChildren, type RefObject, render, type VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { place } from '../router.ts'
import { texts } from '../texts.ts'
import { ariaRowIndex, useDrawnParts } from './long-list.ts'
import { isSame } from './same.ts'
import { Empty } from './states.tsx'

/** A list of things with one row each, which becomes a list of cards where the window is narrow. */

export interface Column<Row> {
  readonly head: string
  /** Of the row alone: a row that is the same as before is not drawn anew. */
  readonly cell: (row: Row) => ComponentChildren
  /** Numbers stand at the end. */
  readonly isNumber?: boolean
}

interface TableProps<Row> {
  /** What the table lists, for those who do not see it. */
  readonly caption: string
  readonly rows: readonly Row[]
  /** Different for each row, and the same whenever it is listed. */
  readonly keyOf: (row: Row) => string
  readonly columns: readonly Column<Row>[]
  readonly empty: ComponentChildren
  /** Rows that come later are shown to have arrived. */
  readonly isLive?: boolean
}

/** Of more rows only those near the window are in the page. */
const mostWhole = 100

export function Table<Row>({ caption, keyOf, columns, empty, isLive, ...asked }: TableProps<Row>) {
  const known = useRef<ReadonlyMap<string, Row> | undefined>(undefined)
  const table = useRef<HTMLTableElement>(null)
  const isLong = asked.rows.length > mostWhole
  const widths = useFixedWidths(table, isLong)
  const before = known.current
  // An answer that came anew has rows that are the same in new objects.
  const rows = asked.rows.map((row) => {
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
  // The roles are said again, because a table that is laid out in another way loses them.
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

/** Saves a list, whether or not it is shown as a table. */
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
      {/* One list of rows: an inner one would be another place, and its rows made anew when it moves. */}
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
 * The cells of a row, drawn anew for another row alone. Elements that `useMemo` keeps would do the same, and keep the whole table as
 * it was when they were made, with the kept elements of its rows: scrolling would hold all that was ever drawn.
 */
class Cells<Row> extends Component<CellsProps<Row>> {
  override shouldComponentUpdate({ row, columns }: CellsProps<Row>) {
    return row !== this.props.row || columns !== this.props.columns
  }

  override render({ row, columns }: CellsProps<Row>) {
    return columns.map(({ head, cell, isNumber }) => (
      <td key={head} role="cell" data-head={head} class={isNumber ? 'number' : undefined}>
        {cell(row)}
      </td>
    ))
  }
}

/** The widths of the columns of a long table, as its first rows have them, so that they stay while others are drawn. */
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

/** What writes the file is loaded with the first one. */
async function save<Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): Promise<void> {
  const { saveTable } = await import('./table-file.ts')
  await saveTable(drawnApart(columns, rows), place.peek()?.name ?? '', caption)
}

/** All rows of a table, some at a time and not in the page. */
function* drawnApart<Row>(columns: readonly Column<Row>[], rows: readonly Row[]) {
  for (let from = 0; from < rows.length; from += mostWhole) {
    const table = document.createElement('table')
    const some = rows.slice(from, from + mostWhole)
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
