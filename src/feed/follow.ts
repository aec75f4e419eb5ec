import { createSignal } from '../lib/signal.ts'
import { retryWhileAway } from '../store/retry.ts'
import type { LogPosition } from '../store/rows.ts'
import type { FeedMessage, SnapshotMessage } from './message.ts'
import type { UpdateFilter } from './read.ts'
import type { Tail } from './tail.ts'

/** A feed by itself: whoever reads it pulls, and no other shares its work. `share.ts` tells the same to many. */

/** What following needs. */
export interface FollowDeps {
  readonly tail: Tail
  /** The most rows of one event. */
  readonly batchRows: number
  /** After so long without an update a feed is told how far it is covered. */
  readonly progressMs: number
}

/** What to follow, from where, and what ends it. */
export interface FollowOptions {
  readonly filter: UpdateFilter
  readonly position: LogPosition
  /** Of the position. */
  readonly era: number
  readonly snapshot: AsyncIterable<SnapshotMessage> | undefined
  readonly signal: AbortSignal
}

/** Everything behind a position, old rows first and then as they are committed, until the signal or a reset. */
export async function* follow(
  { tail, batchRows, progressMs }: FollowDeps,
  { filter, position: start, era, snapshot, signal }: FollowOptions,
): AsyncGenerator<FeedMessage, void, undefined> {
  let position = start
  let checked = start
  const opened = tail.tip()
  let { slot } = opened
  let isBehind = position.seq < opened.seq
  // From the beginning, so that no commit between a read and a wait is missed.
  const changed = createSignal()
  const stopWatching = tail.watch(filter, changed.notify)
  try {
    yield { kind: 'opened', position, tip: opened }
    yield* snapshot ?? []
    while (!signal.aborted) {
      const question = { filter, after: checked.seq, limit: batchRows }
      const page = tail.peek(question) ?? (await retryWhileAway(() => tail.read(question), signal))
      const tip = tail.tip()
      if (tip.era !== era || page === 'REPLACED') {
        return yield { kind: 'reset', position, reason: 'LOG_REPLACED', tip }
      }
      if (page === 'PRUNED') return yield { kind: 'reset', position, reason: 'LOG_PRUNED', tip }
      const after = position
      checked = page.position
      if (page.rows.length > 0) {
        position = checked
        slot = page.rows.at(-1)?.milestoneIndex ?? slot
        yield { kind: 'updates', after, position, rows: page.rows }
      } else if (checked.seq >= tip.seq) {
        if (!isBehind && (await changed.wait({ ms: progressMs, signal }))) continue
        // No notification, so nothing of the filter lies before the tip of this moment.
        const now = tail.tip()
        if (signal.aborted || now.era !== era || (!isBehind && now.slot === slot)) continue
        isBehind = false
        position = { seq: now.seq, branch: now.branch }
        checked = position
        slot = now.slot
        yield { kind: 'progress', after, position, slot, isLive: true }
      }
    }
  } finally {
    stopWatching()
  }
}
