import { LRUCache } from 'lru-cache'
import type { SlotIndex } from '../protocol/primitives.ts'
import type { StoreReader } from '../store/contract.ts'
import type { Milestone } from '../store/rows.ts'

/** Reads of milestones, shared by subscribers that have reached the same one. */

/** Committed slots after one, in order. */
export type ReadMilestones = (after: SlotIndex, limit: number) => Promise<readonly Milestone[]>

/**
 * Shares reads. A milestone of one history never changes, so a read of milestones up to the tip may be kept; `era` counts
 * the histories.
 */
export function shareMilestones(
  reader: Pick<StoreReader, 'milestonesAfter'>,
  era: () => number,
): ReadMilestones {
  const pages = new LRUCache<string, readonly Milestone[], Parameters<ReadMilestones>>({
    max: maxPages,
    fetchMethod: (_key, _stale, { context }) => reader.milestonesAfter(...context),
    ignoreFetchAbort: true,
  })
  return (after, limit) =>
    pages.forceFetch(`${era()} ${after} ${limit}`, { context: [after, limit] })
}

/** Pages of at most 100 milestones, about 30 KB each. */
const maxPages = 64
