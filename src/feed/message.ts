import type { OutputId, SlotIndex } from '../protocol/primitives.ts'
import type { LedgerUpdate, LogPosition } from '../store/rows.ts'
import type { ExpirationTransfer } from './expiration-transfers.ts'
import type { TailTip } from './log-window.ts'

/** What a feed emits, before a transport renders it. Positions are those of the log. */

/** A message of a feed. `after` is the position of the message before it, `position` the one that the feed reaches with it. */
export type FeedMessage =
  | OpenedMessage
  | SnapshotMessage
  | UpdatesMessage
  | ProgressMessage
  | NoticeMessage
  | ResetMessage

/** The feed begins after a position of the log; it is live when that is the tip. */
export interface OpenedMessage {
  readonly kind: 'opened'
  readonly position: LogPosition
  readonly tip: TailTip
}

/** Some of the outputs that were unspent at the position, by id; none comes twice. */
export interface SnapshotMessage {
  readonly kind: 'snapshot'
  readonly position: LogPosition
  readonly outputIds: readonly OutputId[]
  readonly isLast: boolean
}

/** At least one row, and the position up to which there are no others. */
export interface UpdatesMessage {
  readonly kind: 'updates'
  readonly after: LogPosition
  readonly position: LogPosition
  readonly rows: readonly LedgerUpdate[]
}

/** There are no rows up to a position. */
export interface ProgressMessage {
  readonly kind: 'progress'
  readonly after: LogPosition
  readonly position: LogPosition
  /** The newest milestone that is covered. */
  readonly slot: SlotIndex
  /** Whether the feed now receives new updates as they are committed. */
  readonly isLive: boolean
}

/** Something about the feed itself; it changes no position. */
export interface NoticeMessage {
  readonly kind: 'notice'
  readonly position: LogPosition
  readonly notice: Notice
}

/** What a notice is about. Durations in milliseconds, moments in Unix seconds. */
export type Notice =
  | { readonly topic: 'CATCHING_UP' }
  | { readonly topic: 'DRAINING'; readonly closesWithinMs: number }
  | { readonly topic: 'TOKEN_EXPIRING'; readonly expiresAt: number }
  | ({ readonly topic: 'OUTPUT_HANDED_OVER' } & ExpirationTransfer)

/** The feed cannot go on from where it is, and ends with this. */
export interface ResetMessage {
  readonly kind: 'reset'
  readonly position: LogPosition
  readonly reason: 'LOG_REPLACED' | 'LOG_PRUNED'
  /** The log as it is now. */
  readonly tip: TailTip
}
