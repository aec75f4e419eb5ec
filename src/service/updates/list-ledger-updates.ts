import {
  type CursorError,
  type CursorLog,
  confirmCursor,
  encodeCursor,
  placeCursor,
} from '../../feed/cursor.ts'
import { type LogReader, readUpdates } from '../../feed/read.ts'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { slotEnd, type TimeParameters } from '../../protocol/slots.ts'
import type { LedgerUpdate, LogPosition, LogTip, UpdateClass } from '../../store/rows.ts'
import { noBranch } from '../../store/values.ts'
import type { Services } from '../services.ts'
import { fromMilestone, type Interval, type UpdateSort, wholeLog } from './update-position.ts'

/** The updates of one address, page by page, as a connection (Relay). */

/** The greatest page. */
export const maximumPageSize = 1000
/** The page of those who name no size. */
export const defaultPageSize = 100

/** An update in the form that the transports show. */
export interface LedgerUpdateView extends LedgerUpdate {
  /** The position of this update, for paging and following. */
  readonly cursor: string
  /** The end of the milestone's slot, in Unix seconds. */
  readonly milestoneTimestamp: number
}

/** Which page of a connection; the cursors cut first, then `first`, then `last` (Relay connections, 4.4). */
export interface ConnectionQuestion {
  /** Address bytes; a multi address by its reference. */
  readonly address: Hex
  readonly class: UpdateClass
  readonly sort: UpdateSort
  /** The milestone at which the list begins, itself included, in either direction. */
  readonly startMilestoneIndex?: SlotIndex | null | undefined
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
  readonly last?: number | null | undefined
  readonly before?: string | null | undefined
}

/** A page of a connection. A member that costs a read of its own is a function; a resolver calls it when its field is selected. */
export interface LedgerUpdatePage {
  readonly updates: readonly LedgerUpdateView[]
  readonly hasPreviousPage: () => Promise<boolean>
  readonly hasNextPage: () => Promise<boolean>
  /** The updates of the address and class when the page was read, whatever the other arguments. */
  readonly totalCount: () => Promise<number>
  /** How far the log reached when the page was read; a feed after it repeats and misses nothing. */
  readonly tipCursor: string
}

/** A page size below 0 or above 1,000. */
export interface PageSizeOutOfRange {
  readonly code: 'PAGE_SIZE_OUT_OF_RANGE'
  readonly argument: 'first' | 'last'
  readonly value: number
  readonly limit: number
}

/** Why a page was refused. */
export type ListLedgerUpdatesError = CursorError | PageSizeOutOfRange

/** A page of a connection. Under NEWEST the list is turned round: `after` means older. */
export async function listLedgerUpdates(
  deps: Pick<Services, 'store' | 'parameters' | 'mayLag'>,
  question: ConnectionQuestion,
): Promise<Result<LedgerUpdatePage, ListLedgerUpdatesError>> {
  const fault = sizeFault('first', question.first) ?? sizeFault('last', question.last)
  if (fault !== undefined) return err(fault)
  const { read } = deps.store
  const tip = await read.logTip()
  const log = { ...tip, mayLag: deps.mayLag }
  const cursors = placeCursors(question, log)
  if (!cursors.ok) return cursors
  const list = await listOf(read, question, tip)
  const cut = cutList(list, question.sort, cursors.value)
  const page = await takePage(read, question, cut)
  const confirmed = await confirmCursors(read, cursors.value, log)
  if (!confirmed.ok) return confirmed
  const around = aroundPage(list, question.sort, page)
  return ok({
    updates: page.rows.map((row) => viewOf(row, tip, deps.parameters)),
    hasPreviousPage: () => holdsRows(read, question, around.previous),
    hasNextPage: () => holdsRows(read, question, around.next),
    totalCount: () => countUpTo(read, question, tip),
    tipCursor: encodeCursor(tip),
  })
}

/** A row of the log in the form that the transports show. */
export function viewOf(
  row: LedgerUpdate,
  { logId }: Pick<LogTip, 'logId'>,
  parameters: TimeParameters,
): LedgerUpdateView {
  // The row comes last: V8 of Node 20 takes two microseconds for members after a spread.
  return {
    cursor: encodeCursor({ logId, seq: row.seq, branch: row.branch }),
    milestoneTimestamp: slotEnd(parameters, row.milestoneIndex),
    ...row,
  }
}

function sizeFault(
  argument: 'first' | 'last',
  value: number | null | undefined,
): PageSizeOutOfRange | undefined {
  if (value == null || (value >= 0 && value <= maximumPageSize)) return undefined
  return { code: 'PAGE_SIZE_OUT_OF_RANGE', argument, value, limit: maximumPageSize }
}

interface CursorPositions {
  readonly after?: LogPosition
  readonly before?: LogPosition
}

function placeCursors(
  { after, before }: ConnectionQuestion,
  log: CursorLog,
): Result<CursorPositions, CursorError> {
  const positions: { after?: LogPosition; before?: LogPosition } = {}
  if (after != null) {
    const position = placeCursor(after, 'after', log)
    if (!position.ok) return position
    positions.after = position.value
  }
  if (before != null) {
    const position = placeCursor(before, 'before', log)
    if (!position.ok) return position
    positions.before = position.value
  }
  return ok(positions)
}

/** Checked after the rows are read: if the history of the cursors is there now, it was there during the read. */
async function confirmCursors(
  read: LogReader,
  { after, before }: CursorPositions,
  log: CursorLog,
): Promise<Result<CursorPositions, CursorError>> {
  const given = [
    ...(after === undefined ? [] : [{ argument: 'after', position: after }]),
    ...(before === undefined ? [] : [{ argument: 'before', position: before }]),
  ]
  if (given.length === 0) return ok({})
  const branches = await read.branchesAt(given.map(({ position }) => position.seq))
  for (const [i, { argument, position }] of given.entries()) {
    const confirmed = confirmCursor(position, branches[i] ?? noBranch, argument, log)
    if (!confirmed.ok) return confirmed
  }
  return ok({ ...(after && { after }), ...(before && { before }) })
}

/** The whole list of a query, before any cursor cuts it. */
async function listOf(
  read: Services['store']['read'],
  { sort, startMilestoneIndex }: Pick<ConnectionQuestion, 'sort' | 'startMilestoneIndex'>,
  tip: LogTip,
): Promise<Interval> {
  if (startMilestoneIndex == null) return wholeLog(tip)
  return await fromMilestone(read, { sort, milestoneIndex: startMilestoneIndex, tip })
}

/** What the cursors leave. Where they cross, nothing is left, and the empty page is at `after`. */
function cutList(list: Interval, sort: UpdateSort, cursors: CursorPositions): Interval {
  if (sort === 'OLDEST') {
    const after = Math.max(list.after, cursors.after?.seq ?? list.after)
    const before = Math.min(list.before, cursors.before?.seq ?? list.before)
    return { after, before: Math.max(before, after + 1) }
  }
  const before = Math.min(list.before, cursors.after?.seq ?? list.before)
  const after = Math.max(list.after, cursors.before?.seq ?? list.after)
  return { after: Math.min(after, before - 1), before }
}

/** The rows of a page in the order of the list, and for an empty page the position right before it. */
interface Page {
  readonly rows: readonly LedgerUpdate[]
  readonly gap: number
}

async function takePage(
  read: LogReader,
  question: ConnectionQuestion,
  cut: Interval,
): Promise<Page> {
  const { sort, first, last } = question
  const oldestFirst = sort === 'OLDEST'
  const range = { ...cut, ...filterOf(question) }
  const gap = oldestFirst ? cut.after : cut.before
  if (first == null && last != null) {
    const order = orderOf(oldestFirst ? 'NEWEST' : 'OLDEST')
    const rows = await readUpdates(read, { ...range, limit: last, order })
    const end = oldestFirst ? cut.before - 1 : cut.after + 1
    return { rows: rows.toReversed(), gap: last === 0 ? end : gap }
  }
  const limit = first ?? defaultPageSize
  const rows = await readUpdates(read, { ...range, limit, order: orderOf(sort) })
  if (last == null) return { rows, gap }
  return { rows: rows.slice(Math.max(0, rows.length - last)), gap: rows.at(-1)?.seq ?? gap }
}

/** The parts of the list on both sides of a page. */
function aroundPage(
  list: Interval,
  sort: UpdateSort,
  { rows, gap }: Page,
): { readonly previous: Interval; readonly next: Interval } {
  const step = sort === 'OLDEST' ? 1 : -1
  const head = rows[0]?.seq ?? gap + step
  const tail = rows.at(-1)?.seq ?? gap
  return sort === 'OLDEST'
    ? { previous: { ...list, before: head }, next: { ...list, after: tail } }
    : { previous: { ...list, after: head }, next: { ...list, before: tail } }
}

async function holdsRows(
  read: LogReader,
  question: ConnectionQuestion,
  interval: Interval,
): Promise<boolean> {
  const range = { ...interval, ...filterOf(question), limit: 1, order: 'ascending' } as const
  return (await readUpdates(read, range)).length > 0
}

/** The count as of an earlier tip: rows that were committed since have no part in the page. */
async function countUpTo(
  read: Services['store']['read'],
  question: ConnectionQuestion,
  tip: LogTip,
): Promise<number> {
  const newest = await read.addressTip(question.address, question.class)
  const before = (await read.logTip()).seq + 1
  const range = { after: tip.seq, before, ...filterOf(question), limit: 1 }
  const [since] = await readUpdates(read, { ...range, order: 'ascending' })
  return since === undefined ? newest.ordinal : since.ordinal - 1
}

function filterOf(question: ConnectionQuestion) {
  return { addresses: [question.address], classes: [question.class] }
}

/** The order of the log that a list wants. */
export function orderOf(sort: UpdateSort): 'ascending' | 'descending' {
  return sort === 'OLDEST' ? 'ascending' : 'descending'
}
