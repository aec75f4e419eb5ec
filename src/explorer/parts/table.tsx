import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Empty } from './states.tsx'

/** A list of things with one row each, which becomes a list of cards where the window is narrow. */

export interface Column<Row> {
  readonly head: string
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

export function Table<Row>({ caption, rows, keyOf, columns, empty, isLive }: TableProps<Row>) {
  const known = useRef<ReadonlySet<string> | undefined>(undefined)
  const before = known.current
  const keys = rows.map(keyOf)
  known.current = new Set(keys)
  if (rows.length === 0) return <Empty>{empty}</Empty>
  // The roles are said again, because a table that is laid out in another way loses them.
  return (
    <table role="table">
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ head, isNumber }) => (
            <th key={head} role="columnheader" scope="col" class={isNumber ? 'number' : undefined}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row, n) => {
          const key = keys[n] ?? ''
          const hasArrived = isLive && before !== undefined && !before.has(key)
          return (
            <tr key={key} role="row" class={hasArrived ? 'arrived' : undefined} data-row>
              {columns.map(({ head, cell, isNumber }) => (
                <td key={head} role="cell" data-head={head} class={isNumber ? 'number' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
