import type { SlotIndex } from '../../src/protocol/primitives.ts'
import type { ModelRow } from './log-store.ts'

/** Computes the expected page by filtering and slicing a plain array, without the gateway's code for pages. */

/** The arguments of a connection, with cursors as positions. */
export interface PageArguments {
  readonly sort: 'OLDEST' | 'NEWEST'
  readonly startMilestoneIndex?: SlotIndex
  readonly first?: number
  readonly after?: number
  readonly last?: number
  readonly before?: number
}

/** A page, and whether there are pages before and after it. */
export interface ModelPage {
  readonly rows: readonly ModelRow[]
  readonly hasPreviousPage: boolean
  readonly hasNextPage: boolean
}

/** The list that contains the page: in the requested order, from the start milestone on. */
export function listOf(
  rows: readonly ModelRow[],
  { sort, startMilestoneIndex: start }: Pick<PageArguments, 'sort' | 'startMilestoneIndex'>,
): ModelRow[] {
  const turned = sort === 'OLDEST' ? rows.slice() : rows.toReversed()
  if (start === undefined) return turned
  return turned.filter((row) =>
    sort === 'OLDEST' ? row.milestoneIndex >= start : row.milestoneIndex <= start,
  )
}

/** The page of a connection over the rows of one address and class; `rows` are in the order of the log. */
export function pageOf(rows: readonly ModelRow[], page: PageArguments): ModelPage {
  const list = listOf(rows, page)
  const sign = page.sort === 'OLDEST' ? 1 : -1
  const isPast = (row: ModelRow, place: number) => sign * (row.seq - place) > 0
  const isReached = (row: ModelRow, place: number) => sign * (row.seq - place) >= 0
  const { after, before } = page
  let from = after === undefined ? 0 : list.filter((row) => !isPast(row, after)).length
  let to = before === undefined ? list.length : list.filter((row) => !isReached(row, before)).length
  to = Math.max(from, to)
  const first = page.first ?? (page.last === undefined ? 100 : undefined)
  if (first !== undefined) to = Math.min(to, from + first)
  if (page.last !== undefined) from = Math.max(from, to - page.last)
  return { rows: list.slice(from, to), hasPreviousPage: from > 0, hasNextPage: to < list.length }
}
