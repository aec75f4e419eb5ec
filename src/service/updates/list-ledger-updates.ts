import {
  type Cursor,
  type CursorError,
  confirmCursor,
  decodeCursor,
  encodeCursor,
  placeDecoded,
} from '../../feed/cursor.ts'
import { type LogReader, readUpdates } from '../../feed/read.ts'
import { updateClasses } from '../../ledger/updates.ts'
import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { slotEnd, type TimeParameters } from '../../protocol/slots.ts'
import type {
  AddressPage,
  AddressPageQuery,
  LedgerUpdate,
  LogTip,
  UpdateClass,
} from '../../store/rows.ts'
import { noBranch } from '../../store/values.ts'
import type { Services } from '../services.ts'
import type { Interval, UpdateSort } from './update-position.ts'

/** Pages of the updates of one address or of all addresses, as a connection (Relay). */

export const maxPageSize = 1000
export const defaultPageSize = 100

/** An update as the transports render it. */
export interface LedgerUpdateView extends LedgerUpdate {
  /** Cursor of this update, for pages and feeds. */
  readonly cursor: string
  /** The end of the milestone's slot, in Unix seconds. */
  readonly milestoneTimestamp: number
}

/** Selects a page of a connection: cursors apply first, then `first`, then `last` (Relay connections, 4.4). */
export interface LedgerUpdatesRequest {
  /** Address bytes, of a multi address its reference; the whole log if left out. */
  readonly address?: Hex | undefined
  /** OWNED by default; requires an address. */
  readonly class?: UpdateClass | null | undefined
  readonly sort: UpdateSort
  /** The milestone at which the list begins, inclusive, in either direction. */
  readonly startMilestoneIndex?: SlotIndex | null | undefined
  /** The first and the last milestone of the list, independent of its direction. */
  readonly fromMilestone?: SlotIndex | null | undefined
  readonly toMilestone?: SlotIndex | null | undefined
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
  readonly last?: number | null | undefined
  readonly before?: string | null | undefined
}

/** A page of a connection. A member that costs a separate read is a function; a resolver calls it if its field is selected. */
export interface LedgerUpdatePage {
  readonly nodes: readonly LedgerUpdateView[]
  cursorAt(index: number): string
  readonly hasPreviousPage: () => Promise<boolean>
  readonly hasNextPage: () => Promise<boolean>
  /** Number of updates of the address and class when the page was read, independent of the other arguments. */
  readonly totalCount: () => Promise<number>
  /** Cursor of the tip when the page was read. A feed after it repeats and misses no update of the list. */
  readonly tipCursor: string
}

/** A page size below 0 or above 1,000. */
export interface PageSizeOutOfRange {
  readonly code: 'PAGE_SIZE_OUT_OF_RANGE'
  readonly argument: string
  readonly value: number
  readonly limit: number
}

/** `fromMilestone` is after `toMilestone`. */
export interface MilestoneRangeReversed {
  readonly code: 'MILESTONE_RANGE_REVERSED'
  readonly from: SlotIndex
  readonly to: SlotIndex
}

/** The request has a class without an address, and the log has no index by class alone. */
export interface ClassWithoutAddress {
  readonly code: 'UPDATE_CLASS_WITHOUT_ADDRESS'
}

/** Why a page was refused. */
export type ListLedgerUpdatesError =
  | CursorError
  | PageSizeOutOfRange
  | MilestoneRangeReversed
  | ClassWithoutAddress

/**
 * Reads a page of a connection: in one statement for an address, in a few for the whole log. With NEWEST the list is reversed:
 * `after` means older.
 */
export async function listLedgerUpdates(
  deps: Pick<Services, 'store' | 'parameters' | 'mayLag'>,
  request: LedgerUpdatesRequest,
): Promise<Result<LedgerUpdatePage, ListLedgerUpdatesError>> {
  const fault = faultOf(request)
  if (fault !== undefined) return err(fault)
  const { read } = deps.store
  const cursors = await decodeCursors(deps, request)
  if (!cursors.ok) return cursors
  const list = await listOf(read, request)
  const scan = scanOf(request, list, cursors.value)
  const page = await readPage(read, request, scan.query)
  // The slot was committed between the reads: read again, so that the page, its tip and its count are consistent.
  if (list.uncommitted !== undefined && list.uncommitted <= page.tip.slot) {
    return await listLedgerUpdates(deps, request)
  }
  const placed = placeCursors(cursors.value, page, deps.mayLag)
  if (!placed.ok) return placed
  const { rows, isCut, hasMore } = takePage(request, scan, page.rows)
  const isBehind = async () => isCut || page.hasRowsBehind
  // Ends at the tip of the page, even if later rows have been committed since.
  const beyond = { ...scan.beyond, before: Math.min(scan.beyond.before, page.tip.seq + 1) }
  const isBeyond = async () => hasMore || (await holdsRows(read, request, beyond))
  const nodes = rows.map((row) => viewOf(row, page.tip, deps.parameters))
  return ok({
    nodes,
    cursorAt: (index) => present(nodes[index], 'a node').cursor,
    hasPreviousPage: scan.isBackward ? isBeyond : isBehind,
    hasNextPage: scan.isBackward ? isBehind : isBeyond,
    totalCount: async () => page.count,
    tipCursor: encodeCursor(page.tip),
  })
}

/** A row of the log as the view that the transports render. */
export function viewOf(
  row: LedgerUpdate,
  { logId }: Pick<LogTip, 'logId'>,
  parameters: TimeParameters,
): LedgerUpdateView {
  const { seq, branch, milestoneIndex } = row
  // Copies each member: spreading the row takes as long as the rest of the function.
  return {
    cursor: encodeCursor({ logId, seq, branch }),
    milestoneTimestamp: slotEnd(parameters, milestoneIndex),
    seq,
    branch,
    address: row.address,
    class: row.class,
    ordinal: row.ordinal,
    roles: row.roles,
    milestoneIndex,
    outputId: row.outputId,
    isSpent: row.isSpent,
    historyHash: row.historyHash,
    balance: row.balance,
  }
}

function faultOf(request: LedgerUpdatesRequest) {
  const { address, class: updateClass, fromMilestone, toMilestone } = request
  if (address === undefined && updateClass != null) {
    return { code: 'UPDATE_CLASS_WITHOUT_ADDRESS' } as const
  }
  if (fromMilestone != null && toMilestone != null && fromMilestone > toMilestone) {
    return { code: 'MILESTONE_RANGE_REVERSED', from: fromMilestone, to: toMilestone } as const
  }
  return sizeFault('first', request.first) ?? sizeFault('last', request.last)
}

/** The error for a page size out of range; `undefined` for a valid size. */
export function sizeFault(
  argument: 'first' | 'last' | 'points',
  value: number | null | undefined,
): PageSizeOutOfRange | undefined {
  if (value == null || (value >= 0 && value <= maxPageSize)) return undefined
  return { code: 'PAGE_SIZE_OUT_OF_RANGE', argument, value, limit: maxPageSize }
}

/** The decoded cursors of a request; `undefined` if left out. */
interface Cursors {
  readonly after: Cursor | undefined
  readonly before: Cursor | undefined
}

/** Decodes the cursors. Reads the tip only if the first of two errors depends on it. */
async function decodeCursors(
  { store, mayLag }: Pick<Services, 'store' | 'mayLag'>,
  request: LedgerUpdatesRequest,
): Promise<Result<Cursors, CursorError>> {
  const after = request.after == null ? ok(undefined) : decodeCursor(request.after, 'after')
  if (!after.ok) return after
  const before = request.before == null ? ok(undefined) : decodeCursor(request.before, 'before')
  const seqs = [after, before].map((one) => (one.ok ? (one.value?.seq ?? 0) : 0))
  await store.read.reach({ seq: Math.max(...seqs) })
  if (before.ok) return ok({ after: after.value, before: before.value })
  if (after.value === undefined) return before
  const placed = placeDecoded(after.value, 'after', { ...(await store.read.logTip()), mayLag })
  return placed.ok ? before : placed
}

/** Checks the cursors against the tip and the branches that were read with the rows. */
function placeCursors(
  { after, before }: Cursors,
  { tip, branches }: AddressPage,
  mayLag: boolean,
): Result<undefined, CursorError> {
  const log = { ...tip, mayLag }
  const given = [
    ...(after === undefined ? [] : [{ argument: 'after', cursor: after, branch: branches[0] }]),
    ...(before === undefined ? [] : [{ argument: 'before', cursor: before, branch: branches[1] }]),
  ]
  for (const { argument, cursor } of given) {
    const placed = placeDecoded(cursor, argument, log)
    if (!placed.ok) return placed
  }
  for (const { argument, cursor, branch } of given) {
    const confirmed = confirmCursor(cursor, branch ?? noBranch, argument, log)
    if (!confirmed.ok) return confirmed
  }
  return ok(undefined)
}

type Reader = Services['store']['read']

/** Reads the rows of a page, the tip and the counts. The whole log has a row at each kept position, so its count needs no read. */
async function readPage(
  read: Reader,
  { address, class: updateClass }: LedgerUpdatesRequest,
  { cursors, ...query }: Scan['query'],
): Promise<AddressPage> {
  if (address !== undefined) {
    const given = cursors === undefined ? {} : { cursors }
    return await read.addressPage({ ...query, ...given, address, class: updateClass ?? 'OWNED' })
  }
  const { seq } = await read.logTip()
  const before = Math.min(query.before, seq + 1)
  const rows = await read.updates({ ...query, before, classes: updateClasses })
  const branches = cursors === undefined ? [] : await read.branchesAt(cursors.seqs)
  // Read after the rows: pruning removes rows in batches, and a page without some of them would look complete.
  const { seq: _newer, ...tip } = await read.logTip()
  const [from, to] = cursors?.behind ?? [1, 0]
  const hasRowsBehind = Math.max(from, tip.prunedSeq + 1) <= Math.min(to, seq)
  return { tip: { ...tip, seq }, count: seq, rows, hasRowsBehind, branches }
}

/** The whole list of a request, before cursors apply. */
interface List extends Interval {
  /** The list is valid only while this slot is not committed. */
  readonly uncommitted?: SlotIndex
}

/** The part of the log that the start milestone and the range of milestones select. */
async function listOf(read: Reader, request: LedgerUpdatesRequest): Promise<List> {
  const { sort, startMilestoneIndex, fromMilestone, toMilestone } = request
  const parts = [
    await listFrom(read, sort, startMilestoneIndex),
    await listFrom(read, 'OLDEST', fromMilestone),
    await listFrom(read, 'NEWEST', toMilestone),
  ]
  const uncommitted = Math.min(...parts.flatMap((part) => part.uncommitted ?? []))
  return {
    after: Math.max(...parts.map(({ after }) => after)),
    before: Math.min(...parts.map(({ before }) => before)),
    ...(Number.isFinite(uncommitted) && { uncommitted }),
  }
}

async function listFrom(
  read: Reader,
  sort: UpdateSort,
  slot: SlotIndex | null | undefined,
): Promise<List> {
  if (slot == null) return everything
  const milestone = await read.milestone(slot)
  if (milestone !== undefined) {
    return sort === 'OLDEST'
      ? { ...everything, after: milestone.firstSeq - 1 }
      : { ...everything, before: milestone.lastSeq + 1 }
  }
  if (slot > (await read.logTip()).slot) {
    return { ...(sort === 'OLDEST' ? beyondTheEnd : everything), uncommitted: slot }
  }
  // The slot is before the first milestone.
  return sort === 'OLDEST' ? everything : beforeTheBeginning
}

/** Empty intervals at either end of the log. */
const beyondTheEnd: Interval = {
  after: Number.MAX_SAFE_INTEGER - 1,
  before: Number.MAX_SAFE_INTEGER,
}
const beforeTheBeginning: Interval = { after: 0, before: 1 }

/** The whole log, up to the tip at the time of the read. */
const everything: Interval = { after: 0, before: Number.MAX_SAFE_INTEGER }

/** The part of the list between the cursors. If the cursors cross, the part is empty and lies at `after`. */
function cutList(list: Interval, sort: UpdateSort, cursors: Cursors): Interval {
  if (sort === 'OLDEST') {
    const after = Math.max(list.after, cursors.after?.seq ?? list.after)
    const before = Math.min(list.before, cursors.before?.seq ?? list.before)
    return { after, before: Math.max(before, after + 1) }
  }
  const before = Math.min(list.before, cursors.after?.seq ?? list.before)
  const after = Math.max(list.after, cursors.before?.seq ?? list.after)
  return { after: Math.min(after, before - 1), before }
}

/** The read of a page: from one end of the part between the cursors, one row more than the page has. */
interface Scan {
  readonly query: Omit<AddressPageQuery, 'address' | 'class'>
  /** Whether the page is read against the order of the list, because only `last` is given. */
  readonly isBackward: boolean
  readonly limit: number
  /** The part of the list beyond the cursor at which the scan ends; empty without a cursor. */
  readonly beyond: Interval
}

function scanOf(request: LedgerUpdatesRequest, list: Interval, cursors: Cursors): Scan {
  const { sort, first, last } = request
  const { after, before } = cursors
  const cut = cutList(list, sort, cursors)
  const isBackward = first == null && last != null
  const limit = isBackward ? last : (first ?? defaultPageSize)
  const isAscending = (sort === 'OLDEST') !== isBackward
  const behind = isAscending
    ? ([list.after + 1, Math.min(cut.after, list.before - 1)] as const)
    : ([Math.max(cut.before, list.after + 1), list.before - 1] as const)
  const seqs = [after?.seq ?? 0, before?.seq ?? 0] as const
  return {
    query: {
      ...cut,
      limit: limit + 1,
      order: isAscending ? 'ascending' : 'descending',
      ...(after === undefined && before === undefined ? {} : { cursors: { behind, seqs } }),
    },
    isBackward,
    limit,
    beyond: isAscending
      ? { after: Math.max(cut.before - 1, list.after), before: list.before }
      : { after: list.after, before: Math.min(cut.after + 1, list.before) },
  }
}

/** The rows of a page in the order of the list, and whether rows were left out on either side. */
interface Page {
  readonly rows: readonly LedgerUpdate[]
  /** Whether rows were left out at the start of the scan, because `last` is less than `first`. */
  readonly isCut: boolean
  /** Whether rows were left out at the end of the scan. */
  readonly hasMore: boolean
}

function takePage(
  { first, last }: LedgerUpdatesRequest,
  { isBackward, limit }: Scan,
  found: readonly LedgerUpdate[],
): Page {
  const hasMore = found.length > limit
  const rows = hasMore ? found.slice(0, limit) : found
  if (isBackward) return { rows: rows.toReversed(), isCut: false, hasMore }
  const cut = first == null || last == null ? 0 : Math.max(0, rows.length - last)
  return { rows: cut === 0 ? rows : rows.slice(cut), isCut: cut > 0, hasMore }
}

async function holdsRows(
  read: LogReader,
  { address, class: updateClass }: LedgerUpdatesRequest,
  interval: Interval,
): Promise<boolean> {
  const filter =
    address === undefined
      ? { classes: updateClasses }
      : { addresses: [address], classes: [updateClass ?? 'OWNED'] }
  const range = { ...interval, ...filter, limit: 1, order: 'ascending' } as const
  return (await readUpdates(read, range)).length > 0
}

/** The order of the log for a sort order of a list. */
export function orderOf(sort: UpdateSort): 'ascending' | 'descending' {
  return sort === 'OLDEST' ? 'ascending' : 'descending'
}
