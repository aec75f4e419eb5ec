import { encodeCursor } from '../../feed/cursor.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { SlotCommitment } from '../../protocol/commitment.ts'
import type { CommitmentId, SlotIndex } from '../../protocol/primitives.ts'
import { slotEnd, type TimeParameters } from '../../protocol/slots.ts'
import type { SlotCounts } from '../../store/contract/list.ts'
import type { LogTip, Milestone } from '../../store/rows.ts'
import { branchOf } from '../../store/values.ts'
import type { NotOffered } from '../network/not-offered.ts'
import type { Services } from '../services.ts'
import { decodeCommitment } from './read-commitment.ts'

/** A milestone: a committed slot and its part of the log. */

/** A committed slot and the bounds of its updates. */
export interface MilestoneView {
  readonly index: SlotIndex
  /** The end of the slot, in Unix seconds. */
  readonly timestamp: number
  readonly commitmentId: CommitmentId
  readonly bytes: Uint8Array
  /** The decoded commitment; each call decodes it again. */
  readonly commitment: () => SlotCommitment
  /** Number of ledger updates of the slot, over all addresses. */
  readonly updateCount: number
  /** The cursors of the first and the last update; `undefined` if the slot has no updates. */
  readonly firstCursor: string | undefined
  readonly lastCursor: string | undefined
}

/** Reads a milestone, by default the newest; `undefined` if the slot is not committed. */
export async function readMilestone(
  { store, parameters }: Pick<Services, 'store' | 'parameters'>,
  index: SlotIndex | undefined,
): Promise<MilestoneView | undefined> {
  const { read } = store
  const [milestone, { logId }] = await Promise.all([
    index === undefined ? read.latestMilestone() : read.milestone(index),
    read.logTip(),
  ])
  return milestone && milestoneView({ parameters, logId }, milestone)
}

/** Reads many milestones in two statements; slots that are not committed are left out. */
export async function readMilestones(
  deps: Pick<Services, 'store' | 'parameters'>,
  slots: readonly SlotIndex[],
): Promise<ReadonlyMap<SlotIndex, MilestoneView>> {
  const views = await viewsOf(deps, deps.store.read.milestonesAt(slots))
  return new Map(views.map((view) => [view.index, view]))
}

/** Reads many milestones by commitment id, in two statements; unknown ids are left out. */
export async function readMilestonesByCommitments(
  deps: Pick<Services, 'store' | 'parameters'>,
  ids: readonly CommitmentId[],
): Promise<ReadonlyMap<CommitmentId, MilestoneView>> {
  const views = await viewsOf(deps, deps.store.read.milestonesByCommitments(ids))
  return new Map(views.map((view) => [view.commitmentId, view]))
}

async function viewsOf(
  { store, parameters }: Pick<Services, 'store' | 'parameters'>,
  read: Promise<readonly Milestone[]>,
): Promise<readonly MilestoneView[]> {
  const [milestones, { logId }] = await Promise.all([read, store.read.logTip()])
  return milestones.map((milestone) => milestoneView({ parameters, logId }, milestone))
}

/** Counts the accepted blocks and transactions of milestones; not offered in upstream mode, where blocks are fetched on demand. */
export async function countMilestones(
  { store, source }: Pick<Services, 'store' | 'source'>,
  slots: readonly SlotIndex[],
): Promise<ReadonlyMap<SlotIndex, Result<SlotCounts, NotOffered>>> {
  const unknown = err({ code: 'NOT_OFFERED_BY_NODES', what: 'the blocks of a slot' } as const)
  if (source.node !== undefined) return new Map(slots.map((slot) => [slot, unknown]))
  return new Map((await store.read.slotCounts(slots)).map((one) => [one.slot, ok(one)]))
}

/** A committed slot as the view that the transports render. */
export function milestoneView(
  { parameters, logId }: { readonly parameters: TimeParameters; readonly logId: LogTip['logId'] },
  milestone: Milestone,
): MilestoneView {
  const { slot, commitmentId, bytes, firstSeq, lastSeq } = milestone
  const isEmpty = lastSeq < firstSeq
  const branch = branchOf(commitmentId)
  return {
    index: slot,
    timestamp: slotEnd(parameters, slot),
    commitmentId,
    bytes,
    commitment: () => decodeCommitment(milestone),
    updateCount: lastSeq - firstSeq + 1,
    firstCursor: isEmpty ? undefined : encodeCursor({ logId, seq: firstSeq, branch }),
    lastCursor: isEmpty ? undefined : encodeCursor({ logId, seq: lastSeq, branch }),
  }
}
