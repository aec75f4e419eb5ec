import {
  type CursorError,
  confirmCursor,
  decodeCursor,
  encodeCursor,
  placeDecoded,
} from '../../feed/cursor.ts'
import { updateClasses } from '../../ledger/updates.ts'
import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { LedgerUpdate, LogPosition, LogTip } from '../../store/rows.ts'
import { noBranch } from '../../store/values.ts'
import type { Services } from '../services.ts'
import { milestonesWithin, type UpdatesNotKept } from '../slots/explorer-lists.ts'
import { parseSlot } from '../updates/update-position.ts'
import { type HistoryRow, type MilestoneOfAddress, rowsOfMilestone } from './history-rows.ts'

/** The whole history of an address, read page by page, so that a history of any length needs the memory of one page. */

/** Selects a part of the history; times are in Unix seconds. */
export interface AddressHistoryRequest {
  readonly address: Hex
  /** Selects milestones whose time is `from` or later, and before `to`. */
  readonly from: number | undefined
  readonly to: number | undefined
  /** Cursor of the last row that the client has. The history begins after it and ignores `from`. */
  readonly cursor: string | undefined
  /** Number of rows of the log that are read at once. A milestone with more rows of the address is read as a whole. */
  readonly pageRows?: number
}

/** Why a history is refused. */
export type HistoryError = CursorError | UpdatesNotKept | HistoryRangeReversed

/** `to` is before `from`. */
export interface HistoryRangeReversed {
  readonly code: 'HISTORY_RANGE_REVERSED'
}

/** A history as of the time of the request. */
export interface AddressHistory {
  /** The first milestone whose updates are kept. */
  readonly retainedFrom: SlotIndex
  /** The rows in order, in batches. Throws if rows are pruned or replaced before they are read: the history is then incomplete. */
  readonly rows: AsyncIterable<readonly HistoryRow[]>
}

type Deps = Pick<Services, 'store' | 'parameters' | 'mayLag'>

/** Opens the history of an address up to the newest milestone. */
export async function openAddressHistory(
  deps: Deps,
  request: AddressHistoryRequest,
): Promise<Result<AddressHistory, HistoryError>> {
  const { from, to, cursor, address, pageRows = defaultPageRows } = request
  if (from !== undefined && to !== undefined && to < from) {
    return err({ code: 'HISTORY_RANGE_REVERSED' })
  }
  const { store, parameters } = deps
  const [position = '', slotText = ''] = cursor?.split('.') ?? []
  const named = decodeCursor(position, 'cursor')
  if (named.ok) await store.read.reach({ seq: named.value.seq, slot: parseSlot(slotText) ?? 0 })
  const tip = await store.read.logTip()
  const retainedFrom = await firstRetainedSlot(deps, tip)
  const end = to === undefined ? undefined : to - 1
  const { firstSlot, lastSlot } = milestonesWithin(parameters, { start: from, end })
  const upTo = Math.min(lastSlot, tip.slot)
  const begun = { done: 0, slot: Math.max(firstSlot, retainedFrom, parameters.genesisSlot) }
  const start = cursor === undefined ? ok(begun) : await startOf(deps, tip, cursor)
  if (!start.ok) return start
  const { slot, done } = start.value
  if (slot < retainedFrom) return err({ code: 'UPDATES_NOT_KEPT', slot })
  return ok({ retainedFrom, rows: walk(deps, { address, tip, slot, done, upTo, pageRows }) })
}

interface Start {
  readonly slot: SlotIndex
  /** Number of rows of that milestone that the client has. */
  readonly done: number
}

/** Parses a cursor: the position after the rows of a milestone, the milestone, and its number of sent rows, 0 for all of them. */
async function startOf(
  { store, mayLag }: Deps,
  tip: LogTip,
  text: string,
): Promise<Result<Start, CursorError>> {
  const [position = '', slotText = '', doneText = '', ...more] = text.split('.')
  const decoded = decodeCursor(position, 'cursor')
  if (!decoded.ok) return decoded
  const [slot, done] = [parseSlot(slotText), parseSlot(doneText)]
  if (slot === undefined || done === undefined || more.length > 0 || slot > tip.slot) {
    return err({ code: 'CURSOR_MALFORMED', argument: 'cursor' })
  }
  const log = { ...tip, mayLag }
  const placed = placeDecoded(decoded.value, 'cursor', log)
  if (!placed.ok) return placed
  const [branch = noBranch] = await store.read.branchesAt([placed.value.seq])
  const confirmed = confirmCursor(placed.value, branch, 'cursor', { ...log, prunedSeq: 0 })
  if (!confirmed.ok) return confirmed
  return ok(done === 0 ? { slot: slot + 1, done } : { slot, done })
}

/** The first milestone of which all rows are kept; the slot after the newest milestone if the log has no rows. */
export async function firstRetainedSlot(
  { store: { read }, parameters }: Pick<Deps, 'store' | 'parameters'>,
  { prunedSeq, slot }: LogTip,
): Promise<SlotIndex> {
  if (prunedSeq === 0) return parameters.genesisSlot
  const [first] = await read.updates({ ...ascending, after: prunedSeq, limit: 1 })
  if (first === undefined) return slot + 1
  const milestone = await read.milestone(first.milestoneIndex)
  const isWhole = milestone !== undefined && milestone.firstSeq > prunedSeq
  return first.milestoneIndex + (isWhole ? 0 : 1)
}

const ascending = {
  classes: updateClasses,
  before: Number.MAX_SAFE_INTEGER,
  order: 'ascending',
} as const

interface Walk extends Start {
  readonly address: Hex
  readonly tip: LogTip
  readonly upTo: SlotIndex
  readonly pageRows: number
}

const defaultPageRows = 500

async function* walk(deps: Deps, walked: Walk): AsyncGenerator<readonly HistoryRow[]> {
  const { address, tip, slot: from, done } = walked
  const { genesisSlot } = deps.parameters
  let before = from <= genesisSlot ? 0n : await deps.store.read.totalAt(address, from - 1)
  let toSkip = done
  for await (const moved of movedMilestones(deps, walked)) {
    const cursorOf = (rowsDone: number) =>
      `${encodeCursor({ logId: tip.logId, ...moved.position })}.${moved.slot}.${rowsDone}`
    const rows = await rowsOfMilestone(deps, address, { ...moved, before }, cursorOf)
    before = moved.after
    const isFirst = moved.slot === from
    if (rows.length > 0) yield isFirst ? rows.slice(toSkip) : rows
    toSkip = 0
  }
}

/** A milestone, with the position after its last row of the address. */
interface MovedMilestone extends Omit<MilestoneOfAddress, 'before'> {
  readonly position: LogPosition
}

/** Yields the milestones in which outputs of the address moved, by transactions or by expiration. */
async function* movedMilestones(deps: Deps, walked: Walk): AsyncGenerator<MovedMilestone> {
  const { address, tip, upTo, pageRows } = walked
  const { read } = deps.store
  const milestone = await read.milestone(walked.slot)
  if (milestone === undefined) return
  let position: LogPosition = await positionAt(deps, milestone.firstSeq - 1)
  let slot = walked.slot - 1
  let limit = pageRows
  while (slot < upTo) {
    const range = { address, classes: ['OWNED'], order: 'ascending', limit } as const
    const found = await read.updates({ ...range, after: position.seq, before: tip.seq + 1 })
    await assertContinued(deps, tip, position)
    const isLast = found.length < limit
    const lastSlot = found.at(-1)?.milestoneIndex
    // The last milestone of a full page may have more rows.
    const whole = isLast ? found : found.filter((row) => row.milestoneIndex !== lastSlot)
    if (!isLast && whole.length === 0) {
      limit *= 2
      continue
    }
    limit = pageRows
    const reached = isLast ? upTo : Math.min(upTo, (lastSlot ?? upTo) - 1)
    const within = whole.filter((row) => row.milestoneIndex <= upTo)
    for await (const moved of merged(deps, {
      ...walked,
      rows: within,
      after: slot,
      upTo: reached,
    })) {
      yield moved
    }
    position = within.at(-1) ?? position
    slot = reached
  }
}

interface Merge extends Pick<Walk, 'address' | 'pageRows'> {
  readonly rows: readonly LedgerUpdate[]
  readonly after: SlotIndex
  readonly upTo: SlotIndex
}

/** Merges rows of the log with the slots between them in which outputs moved only by expiration. */
async function* merged(
  deps: Deps,
  { address, pageRows, rows, after, upTo }: Merge,
): AsyncGenerator<MovedMilestone> {
  const { read } = deps.store
  let slot = after
  const bySlot = Map.groupBy(rows, ({ milestoneIndex }) => milestoneIndex)
  for (const next of [...bySlot.keys(), upTo + 1]) {
    while (slot < next - 1) {
      const between = { after: slot, upTo: next - 1, limit: pageRows }
      const transfers = await read.expirationTotals(address, between)
      for (const { slot: at, total } of transfers) {
        const { lastSeq } = present(await read.milestone(at), 'a committed slot')
        yield { slot: at, updates: [], after: total, position: await positionAt(deps, lastSeq) }
      }
      slot = transfers.length < pageRows ? next - 1 : (transfers.at(-1)?.slot ?? next - 1)
    }
    const updates = bySlot.get(next)
    const last = updates?.at(-1)
    if (updates === undefined || last === undefined) continue
    const position = { seq: last.seq, branch: last.branch }
    yield { slot: next, updates, after: last.balance ?? 0n, position }
    slot = next
  }
}

async function positionAt({ store }: Deps, seq: number): Promise<LogPosition> {
  const [branch = noBranch] = seq === 0 ? [] : await store.read.branchesAt([seq])
  return { seq, branch }
}

/** Throws if rows after a position were pruned, or if the history before it was replaced: rows read after it may be incomplete. */
async function assertContinued({ store }: Deps, tip: LogTip, { seq, branch }: LogPosition) {
  const [now, [found = noBranch]] = [await store.read.logTip(), await store.read.branchesAt([seq])]
  const isSame = now.logId === tip.logId && (seq === 0 || found === branch)
  if (!isSame || now.prunedSeq > seq) {
    throw new Error('the history of an address was pruned or replaced while it was read')
  }
}
