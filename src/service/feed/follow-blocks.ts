import { err, ok, type Result } from '../../lib/result.ts'
import { createSignal } from '../../lib/signal.ts'
import { stoppable } from '../../lib/stoppable.ts'
import { retryWhileAway } from '../../store/retry.ts'
import type { BlockRow } from '../../store/rows.ts'
import { type BlockView, viewOfBlock } from '../blocks/read-block.ts'
import { slotsWithin } from '../lists/keyset-page.ts'
import { type BlockFilter, kindsOf } from '../lists/list-blocks.ts'
import type { NotOffered } from '../network/not-offered.ts'
import type { Services } from '../services.ts'
import type { MilestoneRangeReversed } from '../updates/list-ledger-updates.ts'

/** Follows new blocks as they are stored. */

/** The filter has conditions that a feed of new blocks does not support. */
export interface FilterNotLive {
  readonly code: 'FILTER_NOT_LIVE'
  /** The names of the conditions. */
  readonly members: string
}

/** Why the request is refused. */
export type FollowBlocksError = NotOffered | FilterNotLive | MilestoneRangeReversed

type Deps = Pick<Services, 'store' | 'source' | 'feed'>

/**
 * Follows all blocks that are stored from now on, in the order of arrival. The iterator ends when its consumer calls `return()`, and when
 * the log was replaced: an older copy of the database gives new blocks the positions of those that it lacks.
 */
export async function followBlocks(
  deps: Deps,
  filter: BlockFilter,
): Promise<Result<AsyncIterableIterator<BlockView>, FollowBlocksError>> {
  if (deps.source.node !== undefined) {
    return err({ code: 'NOT_OFFERED_BY_NODES', what: 'new blocks' })
  }
  // The state of a new block changes, so it cannot be a condition.
  if (filter.state != null) return err({ code: 'FILTER_NOT_LIVE', members: 'state' })
  const slots = slotsWithin(filter)
  if (!slots.ok) return slots
  const { from, to } = slots.value
  const kinds = kindsOf(filter)
  const isWanted = ({ issuerId, kind, slot }: BlockRow) =>
    (filter.issuerId == null || issuerId === filter.issuerId) &&
    kinds?.includes(kind) !== false &&
    slot >= from &&
    slot <= to
  const { era } = deps.feed.tail.tip()
  const begin = await deps.store.read.newestInbox()
  return ok(stoppable((signal) => blocksAfter(deps, { isWanted, begin, era, signal })))
}

interface Following {
  isWanted(row: BlockRow): boolean
  /** Inbox position after which the feed begins. */
  readonly begin: number
  /** The era of the tail in which the feed began. */
  readonly era: number
  readonly signal: AbortSignal
}

async function* blocksAfter(
  { feed: { tail, blocks, readBlocks, tickMs } }: Deps,
  { isWanted, begin, era, signal }: Following,
): AsyncGenerator<BlockView, void, undefined> {
  const changed = createSignal()
  const stopWatching = blocks.add(changed.notify)
  let reached = begin
  try {
    while (!signal.aborted && tail.tip().era === era) {
      const from = reached
      const rows = (await retryWhileAway(() => readBlocks(from), signal)) ?? []
      for (const row of rows) {
        reached = row.inbox
        if (isWanted(row)) yield viewOfBlock(row)
      }
      // The tick finds blocks that another process on the database has stored.
      if (rows.length === 0) await changed.wait({ ms: tickMs, signal })
    }
  } finally {
    stopWatching()
  }
}
