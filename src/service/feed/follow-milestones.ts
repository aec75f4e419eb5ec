import { err, ok, type Result } from '../../lib/result.ts'
import { createSignal } from '../../lib/signal.ts'
import { stoppable } from '../../lib/stoppable.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { retryWhileAway } from '../../store/retry.ts'
import type { Milestone } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import type { UpdatesNotKept } from '../slots/explorer-lists.ts'
import { type MilestoneView, milestoneView } from '../slots/read-milestone.ts'

/** Follows milestones from any milestone on. */

/** The requested milestone is not committed yet. */
export interface MilestoneNotCommitted {
  readonly code: 'MILESTONE_NOT_COMMITTED'
  readonly argument: string
  readonly milestoneIndex: SlotIndex
  readonly newest: SlotIndex
}

/**
 * Follows all milestones after a milestone, by default after the newest. Refused if the next one is not kept. The iterator ends at once
 * when its consumer calls `return()`, and when the log was replaced: the next milestones may not follow the emitted ones.
 */
export async function followMilestones(
  deps: Pick<Services, 'store' | 'parameters' | 'feed'>,
  after: SlotIndex | undefined,
): Promise<Result<AsyncIterableIterator<MilestoneView>, MilestoneNotCommitted | UpdatesNotKept>> {
  const { tail } = deps.feed
  const isAhead = after !== undefined && after > tail.tip().slot
  if (isAhead) await deps.store.read.reach({ slot: after })
  const { slot: newest, era } = await tail.freshTip(isAhead ? tail.tip().seq + 1 : 0)
  if (after !== undefined && after > newest) {
    const code = 'MILESTONE_NOT_COMMITTED'
    return err({ code, argument: 'after', milestoneIndex: after, newest })
  }
  const from = Math.max(after ?? newest, deps.parameters.genesisSlot)
  const [next] = from < newest ? await deps.store.read.milestonesAfter(from, 1) : []
  // A ledger that began with a snapshot lacks most earlier milestones.
  if (next !== undefined && next.slot > from + 1) {
    return err({ code: 'UPDATES_NOT_KEPT', slot: from + 1 })
  }
  return ok(stoppable((signal) => milestonesAfter(deps, { after: after ?? newest, era, signal })))
}

interface Following {
  readonly after: SlotIndex
  /** The era of the tail that `after` belongs to. */
  readonly era: number
  readonly signal: AbortSignal
}

async function* milestonesAfter(
  deps: Pick<Services, 'store' | 'parameters' | 'feed'>,
  { after, era, signal }: Following,
): AsyncGenerator<MilestoneView, void, undefined> {
  const { parameters, feed } = deps
  const { tail } = feed
  const changed = createSignal()
  const stopWatching = tail.watchTip(changed.notify)
  let reached = after
  try {
    while (!signal.aborted) {
      const { logId, era: eraNow } = tail.tip()
      if (eraNow !== era) return
      const from = reached
      const milestones = await retryWhileAway(() => readAfter(deps, from), signal)
      if (tail.tip().era !== era) return
      for (const milestone of milestones) {
        reached = milestone.slot
        yield milestoneView({ parameters, logId }, milestone)
      }
      if (milestones.length === 0) await changed.wait({ signal })
    }
  } finally {
    stopWatching()
  }
}

/** Reads the next milestones up to the tip of the tail, so that the updates of an emitted milestone can be read. */
async function readAfter(
  { store, feed: { tail, milestones } }: Pick<Services, 'store' | 'feed'>,
  reached: SlotIndex,
): Promise<readonly Milestone[]> {
  const { seq, slot, commitmentId } = tail.tip()
  const limit = Math.min(slot - reached, pageSize)
  if (limit <= 0) return []
  const page = await milestones(reached, limit)
  const last = page.at(-1)
  const newest = last?.slot === slot ? last : await store.read.milestone(slot)
  // If the database still has the milestone of the tip, it had its history when the page was read.
  if (newest?.commitmentId === commitmentId) return page
  // An older copy of the log has replaced it, which the tail has not noticed yet.
  await tail.freshTip(seq + 1)
  return []
}

const pageSize = 100
