import { err, ok, type Result } from '../../lib/result.ts'
import type { Interval } from '../../store/chain-contract.ts'
import { maximumPageSize, type PageSizeOutOfRange } from '../updates/list-ledger-updates.ts'
import type { UpdateSort } from '../updates/update-position.ts'

/** Pages of lists that are in the order of some positions, in both directions (Relay connections, 4.4). */

/** The page of those who name no size. */
export const defaultPageSize = 20

/** Which page; the cursors cut first, then `first`, then `last`. */
export interface PageQuestion {
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
  readonly last?: number | null | undefined
  readonly before?: string | null | undefined
  /** NEWEST begins with the highest position. */
  readonly sort: UpdateSort
}

/** A page; whether there is more at the end that a cursor cut off is a read of its own. */
export interface ListPage<Row> {
  readonly rows: readonly Row[]
  readonly hasPreviousPage: () => Promise<boolean>
  readonly hasNextPage: () => Promise<boolean>
}

/** Why a page is refused. */
export type PageError =
  | PageSizeOutOfRange
  | { readonly code: 'CURSOR_MALFORMED'; readonly argument: string }

/** A list by its positions. */
export interface PositionedList<Row, P> {
  /** The position of a cursor's text; `undefined` for other texts. */
  parse(text: string): P | undefined
  positionOf(row: Row): P
  compare(a: P, b: P): number
  read(interval: Interval<P>): Promise<readonly Row[]>
}

/** Reads a page by one read. What joins or leaves the list meanwhile does not move the others. */
export async function readPage<Row, P>(
  question: PageQuestion,
  list: PositionedList<Row, P>,
): Promise<Result<ListPage<Row>, PageError>> {
  const { first, last, sort } = question
  const fault = sizeFault('first', first) ?? sizeFault('last', last)
  if (fault !== undefined) return err(fault)
  const after = parseCursor(list, 'after', question.after)
  if (!after.ok) return after
  const before = parseCursor(list, 'before', question.before)
  if (!before.ok) return before
  const isBackward = first == null && last != null
  const size = first ?? last ?? defaultPageSize
  const isAscending = (sort === 'OLDEST') !== isBackward
  const [above, below] =
    sort === 'OLDEST' ? [after.value, before.value] : [before.value, after.value]
  const order = isAscending ? 'ascending' : 'descending'
  const found = await list.read({ above, below, order, limit: size + 1 })
  const some = found.slice(0, size)
  const inOrder = isBackward ? some.toReversed() : some
  const rows = first != null && last != null ? inOrder.slice(Math.max(0, size - last)) : inOrder
  const hasMore = async () => found.length > size
  const atStart = beyond(list, after.value, sort === 'OLDEST')
  const atEnd = beyond(list, before.value, sort !== 'OLDEST')
  return ok({
    rows,
    hasPreviousPage: isBackward
      ? hasMore
      : async () => rows.length < inOrder.length || (await atStart()),
    hasNextPage: isBackward ? atEnd : hasMore,
  })
}

/** Whether the list has something at a cursor or on the other side of it: its lowest, or its highest, is there. */
function beyond<Row, P>(
  list: PositionedList<Row, P>,
  cursor: P | undefined,
  isLowest: boolean,
): () => Promise<boolean> {
  return async () => {
    if (cursor === undefined) return false
    const order = isLowest ? 'ascending' : 'descending'
    const [end] = await list.read({ above: undefined, below: undefined, order, limit: 1 })
    if (end === undefined) return false
    const difference = list.compare(list.positionOf(end), cursor)
    return isLowest ? difference <= 0 : difference >= 0
  }
}

function sizeFault(
  argument: 'first' | 'last',
  value: number | null | undefined,
): PageSizeOutOfRange | undefined {
  if (value == null || (value >= 0 && value <= maximumPageSize)) return undefined
  return { code: 'PAGE_SIZE_OUT_OF_RANGE', argument, value, limit: maximumPageSize }
}

function parseCursor<P>(
  { parse }: Pick<PositionedList<unknown, P>, 'parse'>,
  argument: string,
  cursor: string | null | undefined,
): Result<P | undefined, PageError> {
  if (cursor == null) return ok(undefined)
  const position = parse(Buffer.from(cursor, 'base64url').toString('latin1'))
  return position === undefined ? err({ code: 'CURSOR_MALFORMED', argument }) : ok(position)
}

/** The cursor of a position's text. */
export function cursorOf(position: string): string {
  return Buffer.from(position, 'latin1').toString('base64url')
}
