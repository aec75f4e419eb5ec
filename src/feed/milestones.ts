import { LRUCache } from 'lru-cache'
import type { SlotIndex } from '../protocol/primitives.ts'
import type { StoreReader } from '../store/contract.ts'
import type { Milestone } from '../store/rows.ts'

/** Reads of milestones, shared by subscribers that have reached the same milestone. */

/** Reads the committed slots after a slot, in order. */
export type ReadMilestones = (after: SlotIndex, limit: number) => Promise<readonly Milestone[]>

/**
 * Caches the reads of milestones. A milestone of one history never changes, so a cached read stays valid; `era` counts the
 * histories.
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

/** Maximum number of cached pages: each has at most 100 milestones, about 30 KB. */
const maxPages = 64
