import {
  type CursorError,
  confirmCursor,
  cursorExpired,
  decodeCursor,
  placeCursor,
} from '../../feed/cursor.ts'
import { follow } from '../../feed/follow.ts'
import type { TailTip } from '../../feed/log-window.ts'
import type { SnapshotMessage } from '../../feed/message.ts'
import type { UpdateFilter } from '../../feed/read.ts'
import type { Subscriber, SubscriberOptions } from '../../feed/subscriber.ts'
import type { SharedText } from '../../feed/texts.ts'
import { updateClasses } from '../../ledger/updates.ts'
import type { Hex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { stoppable } from '../../lib/stoppable.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { NamedPosition } from '../../store/contract.ts'
import type { LogPosition, UpdateClass } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { eventOf, type FeedIdentity, type LedgerFeedEvent } from './feed-events.ts'
import { readSnapshot } from './feed-snapshot.ts'
import type { MilestoneNotCommitted } from './follow-milestones.ts'

/** Follows ledger updates from any position of the log, without a gap between existing and new updates. */

export type { Sink } from '../../feed/feed-output.ts'
export type { FeedMessage } from '../../feed/message.ts'
export type { Subscriber } from '../../feed/subscriber.ts'
export type { SharedText } from '../../feed/texts.ts'

/** The services that a feed of ledger updates uses. */
export type FeedServices = Pick<Services, 'store' | 'parameters' | 'feed' | 'mayLag'>

/** Maximum number of addresses of one feed. */
export const maxFeedAddresses = 100

/** The filter and the start of a feed. */
export interface FeedSelection {
  /** Address bytes; all addresses if left out. */
  readonly addresses?: readonly Hex[]
  readonly classes: readonly UpdateClass[]
  /** Cursor after which the feed begins. Without it and `afterMilestone`, the feed begins at the tip. */
  readonly after?: string
  /** The milestone after which the feed begins. */
  readonly afterMilestone?: SlotIndex
  /** Whether the feed begins with a snapshot of the unspent outputs. */
  readonly snapshot?: boolean
}

/** Why a feed was not opened. */
export type FollowLedgerUpdatesError =
  | CursorError
  /** The number of addresses is 0 or exceeds the limit. */
  | { readonly code: 'FEED_ADDRESS_COUNT'; readonly count: number; readonly limit: number }
  | { readonly code: 'FEED_CLASSES_MISSING' }
  /** The request has both `after` and `afterMilestone`. */
  | { readonly code: 'FEED_START_AMBIGUOUS' }
  | MilestoneNotCommitted
  /** There is no snapshot of the whole ledger. */
  | { readonly code: 'FEED_SNAPSHOT_WITHOUT_ADDRESSES' }

/** Opens a feed that shares no work with other feeds. The iterator ends at once when its consumer calls `return()`. */
export async function followLedgerUpdates(
  deps: FeedServices,
  selection: FeedSelection,
): Promise<Result<AsyncIterableIterator<LedgerFeedEvent>, FollowLedgerUpdatesError>> {
  const begun = await startFeed(deps, selection)
  if (!begun.ok) return begun
  return ok(stoppable((signal) => eventsOf(deps, begun.value, signal)))
}

async function* eventsOf(
  deps: FeedServices,
  begun: StartedFeed,
  signal: AbortSignal,
): AsyncGenerator<LedgerFeedEvent, void, undefined> {
  const messages = follow(deps.feed.hub, { ...begun, signal })
  for await (const message of messages) yield eventOf(deps, begun, message)
}

/** The rendering and the receiver of a shared feed. */
export interface SharedFeedOptions extends Pick<SubscriberOptions, 'sink'> {
  /** Identifies `render`. Feeds share texts if their keys and their requests, apart from the start, are equal. */
  readonly key: string
  readonly render: (event: LedgerFeedEvent) => Promise<SharedText>
}

/** Opens a feed that shares execution and texts with feeds of equal requests. */
export async function shareLedgerUpdates(
  deps: FeedServices,
  selection: FeedSelection,
  { key, render, sink }: SharedFeedOptions,
): Promise<Result<Subscriber, FollowLedgerUpdatesError>> {
  const begun = await startFeed(deps, selection)
  if (!begun.ok) return begun
  const { logId, era, filter, position, snapshot } = begun.value
  const { addresses, classes } = filter
  return ok(
    deps.feed.hub.open({
      key: JSON.stringify([logId, era, addresses, classes, snapshot === undefined, key]),
      filter,
      era,
      render: (message) => render(eventOf(deps, begun.value, message)),
      position,
      snapshot,
      sink,
    }),
  )
}

/** The checked filter and start of a feed. */
export interface StartedFeed extends FeedIdentity {
  readonly position: LogPosition
  /** The era of the tail that the position belongs to. A feed that resumes in a replaced log gets a past era, so it is reset. */
  readonly era: number
  readonly snapshot: AsyncIterable<SnapshotMessage> | undefined
}

/** Checks a request for a feed and computes its filter and position. */
export async function startFeed(
  deps: FeedServices,
  selection: FeedSelection,
): Promise<Result<StartedFeed, FollowLedgerUpdatesError>> {
  const filter = filterOf(selection)
  if (!filter.ok) return filter
  const { tail } = deps.feed
  // Most feeds resume below the known tip and need no read of the database.
  let tip = tail.tip()
  let start = await startOf(deps, selection, tip)
  if (!start.ok || start.value.seq === tip.seq) {
    // A cursor from another gateway on the database may be ahead of the tip that this gateway knows, or belong to a newer log.
    const code = start.ok ? undefined : start.error.code
    const isAhead = code === 'CURSOR_AHEAD_OF_TIP' || code === 'MILESTONE_NOT_COMMITTED'
    if (isAhead) await deps.store.read.reach(positionOf(selection))
    const isNews = isAhead || code === 'CURSOR_OF_ANOTHER_LOG'
    tip = await tail.freshTip(isNews ? tip.seq + 1 : 0)
    start = await startOf(deps, selection, tip)
  }
  // The log was replaced during the checks.
  if (tail.tip().era !== tip.era) return await startFeed(deps, selection)
  if (!start.ok) {
    if (start.error.code !== 'CURSOR_OF_ANOTHER_LOG') return start
    const { logId, seq, branch, era } = tip
    const position = { seq, branch }
    return ok({ logId, era: era - 1, filter: filter.value, position, snapshot: undefined })
  }
  const beginning = { filter: filter.value, position: start.value }
  const snapshot = selection.snapshot === true ? readSnapshot(deps, beginning) : undefined
  return ok({ logId: tip.logId, era: tip.era, ...beginning, snapshot })
}

/** The requested start of a feed. */
function positionOf({ after = '', afterMilestone }: FeedSelection): NamedPosition {
  if (afterMilestone !== undefined) return { slot: afterMilestone }
  const cursor = decodeCursor(after, 'after')
  return cursor.ok ? { seq: cursor.value.seq } : {}
}

function filterOf(selection: FeedSelection): Result<UpdateFilter, FollowLedgerUpdatesError> {
  const addresses = selection.addresses && [...new Set(selection.addresses)].sort()
  const count = addresses?.length ?? 1
  if (count < 1 || count > maxFeedAddresses) {
    return err({ code: 'FEED_ADDRESS_COUNT', count, limit: maxFeedAddresses })
  }
  const classes = updateClasses.filter((one) => selection.classes.includes(one))
  if (classes.length === 0) return err({ code: 'FEED_CLASSES_MISSING' })
  if (selection.snapshot === true && addresses === undefined) {
    return err({ code: 'FEED_SNAPSHOT_WITHOUT_ADDRESSES' })
  }
  return ok({ ...(addresses && { addresses }), classes })
}

async function startOf(
  { store, feed: { tail }, mayLag }: FeedServices,
  { after, afterMilestone }: FeedSelection,
  tip: TailTip,
): Promise<Result<LogPosition, FollowLedgerUpdatesError>> {
  if (after !== undefined && afterMilestone !== undefined) {
    return err({ code: 'FEED_START_AMBIGUOUS' })
  }
  if (after !== undefined) {
    const log = { ...tip, mayLag }
    const position = placeCursor(after, 'after', log)
    if (!position.ok) return position
    return confirmCursor(position.value, await tail.branchAt(position.value.seq), 'after', log)
  }
  if (afterMilestone === undefined) return ok({ seq: tip.seq, branch: tip.branch })
  const argument = 'afterMilestone'
  if (afterMilestone > tip.slot) {
    const { slot: newest } = tip
    const code = 'MILESTONE_NOT_COMMITTED'
    return err({ code, argument, milestoneIndex: afterMilestone, newest })
  }
  // Without a row of the milestone, the feed begins at the start of the log, with the genesis.
  const seq = (await store.read.milestone(afterMilestone))?.lastSeq ?? 0
  if (seq < tip.prunedSeq) return err(cursorExpired(argument, tip))
  return ok({ seq, branch: await tail.branchAt(seq) })
}
