import type { CommittedSlot } from '../ledger/commit-slot.ts'
import { present } from '../lib/assert.ts'
import { SlotCommitment } from '../protocol/commitment.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { CommitmentId, SlotIndex } from '../protocol/primitives.ts'
import { decodeStored } from '../protocol/stored.ts'
import type { StoreReader } from '../store/contract.ts'
import type { Milestone } from '../store/rows.ts'

/** An in-memory cache of the newest commitments, which blocks and transactions may refer to. */
export interface RecentCommitments {
  add(committed: CommittedSlot): void
  newest(): CommittedSlot
  /** The commitment of a slot; the newest one if the slot is not committed yet. */
  upTo(slot: SlotIndex): CommittedSlot
  has(id: CommitmentId): boolean
}

/** Loads the commitments of the last `count` slots. */
export async function loadRecentCommitments(
  read: Pick<StoreReader, 'latestMilestone' | 'milestonesAfter'>,
  count: number,
): Promise<RecentCommitments> {
  const latest = await read.latestMilestone()
  const milestones = await read.milestonesAfter(latest.slot - count, count)
  const commitments = createRecentCommitments(committedSlot(latest), count)
  for (const milestone of milestones) commitments.add(committedSlot(milestone))
  return commitments
}

/** Creates a cache of `count` slots with a first commitment. */
function createRecentCommitments(first: CommittedSlot, count: number): RecentCommitments {
  const bySlot = new Map<SlotIndex, CommittedSlot>()
  const ids = new Set<CommitmentId>()
  let newest = first

  function add(committed: CommittedSlot): void {
    const { slot } = committed.commitment
    bySlot.set(slot, committed)
    ids.add(committed.commitmentId)
    if (slot >= newest.commitment.slot) newest = committed
    const aged = bySlot.get(slot - count)
    if (aged === undefined) return
    bySlot.delete(slot - count)
    ids.delete(aged.commitmentId)
  }

  add(first)
  return {
    add,
    newest: () => newest,
    upTo: (slot) =>
      slot >= newest.commitment.slot
        ? newest
        : (bySlot.get(slot) ?? present(oldest(bySlot), 'commitment')),
    has: (id) => ids.has(id),
  }
}

/** Converts a stored milestone to a committed slot. */
export function committedSlot({ commitmentId, bytes }: Milestone): CommittedSlot {
  return { commitment: decodeStored(SlotCommitment, bytes), commitmentId, bytes }
}

function oldest(bySlot: ReadonlyMap<SlotIndex, CommittedSlot>): CommittedSlot | undefined {
  return bySlot.get(Math.min(...bySlot.keys()))
}

/** The number of slots whose commitments, accounts and prices are kept: blocks and transactions do not refer to earlier slots. */
export function retainedSlots({ maxCommittableAge }: ProtocolParameters): number {
  return 2 * maxCommittableAge + 2
}
