import { createBoundedMap } from '../lib/bounded-map.ts'
import type { SlotIndex } from '../protocol/primitives.ts'
import type { StoreReader } from '../store/contract.ts'
import type { Milestone } from '../store/rows.ts'

/** Milestones for many followers: whoever stands at the same place is served by the same read. */

/** Committed slots behind one, in order. */
export type ReadMilestones = (after: SlotIndex, limit: number) => Promise<readonly Milestone[]>

/**
 * Reads that are shared. A milestone of one history never changes, so a read of those below the tip may be kept; `era` tells
 * when the history is another one.
 */
export function shareMilestones(
  reader: Pick<StoreReader, 'milestonesAfter'>,
  era: () => number,
): ReadMilestones {
  const kept = createBoundedMap<string, Promise<readonly Milestone[]>>(keptReads)

  return (after, limit) => {
    const key = `${era()} ${after} ${limit}`
    const known = kept.get(key)
    if (known !== undefined) return known
    const read = reader.milestonesAfter(after, limit)
    kept.set(key, read)
    // Whoever asked is told the reason; the next one tries again.
    read.catch(() => kept.delete(key))
    return read
  }
}

/** Pages of at most 100 milestones, about 30 KB each. */
const keptReads = 64
