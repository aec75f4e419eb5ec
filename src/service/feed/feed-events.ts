import { encodeCursor } from '../../feed/cursor.ts'
import type { ExpirationTransfer } from '../../feed/expiration-transfers.ts'
import type { FeedMessage, Notice, UpdatesMessage } from '../../feed/message.ts'
import type { UpdateFilter } from '../../feed/read.ts'
import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import type { OutputId, SlotIndex } from '../../protocol/primitives.ts'
import { slotEnd, type TimeParameters } from '../../protocol/slots.ts'
import type { LogPosition, LogTip, UpdateClass } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { type LedgerUpdateView, viewOf } from '../updates/list-ledger-updates.ts'

/** The events of a feed as the transports send them; docs/feed.md states the guarantees of each. */

export type { ExpirationTransfer } from '../../feed/expiration-transfers.ts'

export type LedgerFeedEvent =
  | FeedOpened
  | FeedSnapshot
  | LedgerUpdateBatch
  | FeedProgress
  | FeedNotice
  | FeedReset

/** Whether a feed receives updates as they are committed, or still reads older updates. */
export type FeedMode = 'CATCHING_UP' | 'LIVE'

/** The first event of every feed. */
export interface FeedOpened {
  readonly kind: 'FeedOpened'
  /** The cursor after which the feed begins; a feed that resumes after it misses no update. */
  readonly cursor: string
  /** The oldest and the newest cursor from which a feed can resume. */
  readonly oldestCursor: string
  readonly tipCursor: string
  readonly mode: FeedMode
  /** The newest committed slot. */
  readonly milestoneIndex: SlotIndex
  /** The position of `cursor` in the log. */
  readonly position: LogPosition
  readonly filter: UpdateFilter
}

/** Some of the outputs that were unspent at the cursor. */
export interface FeedSnapshot {
  readonly kind: 'FeedSnapshot'
  readonly cursor: string
  readonly outputIds: readonly OutputId[]
  readonly isLast: boolean
}

/** At least one update, in the order of the log. */
export interface LedgerUpdateBatch {
  readonly kind: 'LedgerUpdateBatch'
  readonly updates: readonly LedgerUpdateView[]
  /** The cursor of the preceding event; there is no update of the feed between it and the first update. */
  readonly previousCursor: string
  /** The position that the feed has reached; a feed that resumes after it repeats and misses no update. */
  readonly cursor: string
  /** The milestone of the last update, and the end of its slot in Unix seconds. */
  readonly milestoneIndex: SlotIndex
  readonly milestoneTimestamp: number
}

/** There are no updates since the preceding event. */
export interface FeedProgress {
  readonly kind: 'FeedProgress'
  readonly previousCursor: string
  readonly cursor: string
  /** The newest milestone that the event covers, and the end of its slot in Unix seconds. */
  readonly milestoneIndex: SlotIndex
  readonly milestoneTimestamp: number
  readonly mode: FeedMode
}

/** Information about the feed itself. */
export interface FeedNotice {
  readonly kind: 'FeedNotice'
  readonly topic: Notice['topic']
  /** The cursor from which the client resumes if the feed ends now. */
  readonly cursor: string
  /** Milliseconds within which the connection is closed; `undefined` for notices of other topics. */
  readonly closesWithinMs: number | undefined
  /** Expiry of the token in Unix seconds; `undefined` for notices of other topics. */
  readonly expiresAt: number | undefined
  /** The output that changed its owner by expiration; `undefined` for notices of other topics. */
  readonly handover: ExpirationTransfer | undefined
}

/** The last event of a feed that cannot continue from its position. */
export interface FeedReset {
  readonly kind: 'FeedReset'
  readonly reason: 'LOG_REPLACED' | 'LOG_PRUNED'
  readonly oldestCursor: string
  readonly tipCursor: string
}

/** The updates of one address and class in a batch. */
export interface UpdateHistory {
  readonly address: Hex
  readonly class: UpdateClass
  readonly firstOrdinal: number
  readonly lastOrdinal: number
  /** The history hash after the last update. */
  readonly historyHash: Hex
}

/** The feed that an event belongs to. */
export interface FeedIdentity {
  readonly logId: LogTip['logId']
  readonly filter: UpdateFilter
}

/** Converts a message to an event. */
export function eventOf(
  { parameters }: Pick<Services, 'parameters'>,
  { logId, filter }: FeedIdentity,
  message: FeedMessage,
): LedgerFeedEvent {
  const at = ({ seq, branch }: LogPosition) => encodeCursor({ logId, seq, branch })
  switch (message.kind) {
    case 'opened':
      return {
        kind: 'FeedOpened',
        cursor: at(message.position),
        ...endsOf(message.tip),
        mode: message.position.seq < message.tip.seq ? 'CATCHING_UP' : 'LIVE',
        milestoneIndex: message.tip.slot,
        position: message.position,
        filter,
      }
    case 'snapshot': {
      const { outputIds, isLast } = message
      return { kind: 'FeedSnapshot', cursor: at(message.position), outputIds, isLast }
    }
    case 'updates':
      return batchOf(parameters, logId, message)
    case 'progress':
      return {
        kind: 'FeedProgress',
        previousCursor: at(message.after),
        cursor: at(message.position),
        milestoneIndex: message.slot,
        milestoneTimestamp: slotEnd(parameters, message.slot),
        mode: message.isLive ? 'LIVE' : 'CATCHING_UP',
      }
    case 'notice':
      return noticeOf(at(message.position), message.notice)
    case 'reset':
      return { kind: 'FeedReset', reason: message.reason, ...endsOf(message.tip) }
  }
}

/** The histories in a batch, one per address and class, in the order of their first updates. */
export function historiesOf({ updates }: Pick<LedgerUpdateBatch, 'updates'>): UpdateHistory[] {
  const histories = new Map<string, UpdateHistory>()
  for (const { address, class: updateClass, ordinal, historyHash } of updates) {
    const key = updateClass + address
    const firstOrdinal = histories.get(key)?.firstOrdinal ?? ordinal
    histories.set(key, {
      address,
      class: updateClass,
      firstOrdinal,
      lastOrdinal: ordinal,
      historyHash,
    })
  }
  return [...histories.values()]
}

/** The cursor from which a client resumes after an event; `undefined` if it cannot resume there. */
export function resumeCursorOf(event: LedgerFeedEvent): string | undefined {
  switch (event.kind) {
    case 'FeedOpened':
    case 'LedgerUpdateBatch':
    case 'FeedProgress':
    case 'FeedNotice':
      return event.cursor
    // A client that resumes after a partial snapshot would miss the rest of it. A reset feed cannot be resumed.
    case 'FeedSnapshot':
      return event.isLast ? event.cursor : undefined
    case 'FeedReset':
      return undefined
  }
}

function endsOf(tip: LogTip): { readonly oldestCursor: string; readonly tipCursor: string } {
  const { logId, prunedSeq, prunedBranch } = tip
  return {
    oldestCursor: encodeCursor({ logId, seq: prunedSeq, branch: prunedBranch }),
    tipCursor: encodeCursor(tip),
  }
}

function batchOf(
  parameters: TimeParameters,
  logId: LogTip['logId'],
  { after, position, rows }: UpdatesMessage,
): LedgerUpdateBatch {
  const { milestoneIndex } = present(rows.at(-1), 'a row of a batch')
  return {
    kind: 'LedgerUpdateBatch',
    updates: rows.map((row) => viewOf(row, { logId }, parameters)),
    previousCursor: encodeCursor({ logId, ...after }),
    cursor: encodeCursor({ logId, ...position }),
    milestoneIndex,
    milestoneTimestamp: slotEnd(parameters, milestoneIndex),
  }
}

function noticeOf(cursor: string, notice: Notice): FeedNotice {
  return {
    kind: 'FeedNotice',
    topic: notice.topic,
    cursor,
    closesWithinMs: notice.topic === 'DRAINING' ? notice.closesWithinMs : undefined,
    expiresAt: notice.topic === 'TOKEN_EXPIRING' ? notice.expiresAt : undefined,
    handover: notice.topic === 'OUTPUT_HANDED_OVER' ? notice : undefined,
  }
}
