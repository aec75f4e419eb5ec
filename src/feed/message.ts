import type { OutputId, SlotIndex } from '../protocol/primitives.ts'
import type { LedgerUpdate, LogPosition } from '../store/rows.ts'
import type { ExpirationTransfer } from './expiration-transfers.ts'
import type { TailTip } from './log-window.ts'

/** Messages of a feed, before a transport renders them. Positions are positions of the log. */

/** A message of a feed. `after` is the position of the preceding message, `position` the position that the feed has reached. */
export type FeedMessage =
  | OpenedMessage
  | SnapshotMessage
  | UpdatesMessage
  | ProgressMessage
  | NoticeMessage
  | ResetMessage

/** The feed begins after a position of the log. If the position is the tip, the feed is live. */
export interface OpenedMessage {
  readonly kind: 'opened'
  readonly position: LogPosition
  readonly tip: TailTip
}

/** Ids of some outputs that were unspent at the position; no id is repeated in a later message. */
export interface SnapshotMessage {
  readonly kind: 'snapshot'
  readonly position: LogPosition
  readonly outputIds: readonly OutputId[]
  readonly isLast: boolean
}

/** At least one row: all rows of the filter after `after`, up to `position`. */
export interface UpdatesMessage {
  readonly kind: 'updates'
  readonly after: LogPosition
  readonly position: LogPosition
  readonly rows: readonly LedgerUpdate[]
}

/** The filter has no rows after `after`, up to `position`. */
export interface ProgressMessage {
  readonly kind: 'progress'
  readonly after: LogPosition
  readonly position: LogPosition
  /** The newest milestone that the message covers. */
  readonly slot: SlotIndex
  /** Whether the feed now receives new updates as they are committed. */
  readonly isLive: boolean
}

/** Information about the feed itself. A notice changes no position. */
export interface NoticeMessage {
  readonly kind: 'notice'
  readonly position: LogPosition
  readonly notice: Notice
}

/** The content of a notice. Durations are in milliseconds, times in Unix seconds. */
export type Notice =
  | { readonly topic: 'CATCHING_UP' }
  | { readonly topic: 'DRAINING'; readonly closesWithinMs: number }
  | { readonly topic: 'TOKEN_EXPIRING'; readonly expiresAt: number }
  | ({ readonly topic: 'OUTPUT_HANDED_OVER' } & ExpirationTransfer)

/** The last message of a feed that cannot continue from its position. */
export interface ResetMessage {
  readonly kind: 'reset'
  readonly position: LogPosition
  readonly reason: 'LOG_REPLACED' | 'LOG_PRUNED'
  /** The log as it is now. */
  readonly tip: TailTip
}
