import { setTimeout as delay } from 'node:timers/promises'
import type { Contradiction } from '../../node/contradiction.ts'
import type { FollowingStatus, LedgerUnavailable } from '../../node/source.ts'
import type { AnswerUnreadable } from '../../node/unreadable.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { Services } from '../services.ts'

/** Whether the gateway can do its work. */

/** What a node said that contradicts what is committed here. */
export type NodeContradiction = Contradiction

/** What a node said that cannot be read. */
export type NodeAnswerUnreadable = AnswerUnreadable

/** How the gateway is. */
export interface Health {
  /** Whether the database answers and the ledger keeps up with the clock. */
  readonly isHealthy: boolean
  /** Why the ledger takes no blocks; `undefined` while it does. */
  readonly reason: LedgerUnavailable['reason'] | undefined
  /** Whether this process writes the ledger, or another one on its database does. */
  readonly role: 'WRITER' | 'STANDBY'
  /** Of the writer, as far as it was heard of. */
  readonly term: number
  /** In front of a node: how the following goes. */
  readonly following: FollowingHealth | undefined
}

/** How the following of a node goes, and how far it has come. */
export interface FollowingHealth extends FollowingStatus {
  readonly committedSlot: SlotIndex
}

/** Asks the database, and tells what it is among those on it. */
export async function readHealth({
  store,
  source,
}: Pick<Services, 'store' | 'source'>): Promise<Health> {
  const { isHealthy, unavailable: reason, ...status } = source.status()
  const { role, term, latestCommittedSlot: committedSlot } = status
  const following = status.following && { ...status.following, committedSlot }
  const isAnswering = await answersInTime(() => store.read.logTip())
  return { isHealthy: isHealthy && isAnswering, reason, role, term, following }
}

/** A database behind a broken network may answer nothing at all, not even that it cannot. Its log line has the reason. */
async function answersInTime(ask: () => Promise<unknown>): Promise<boolean> {
  const over = new AbortController()
  const answered = ask().then(
    () => true,
    () => false,
  )
  const late = delay(longestMs, false, { signal: over.signal, ref: false }).catch(() => false)
  return Promise.race([answered, late]).finally(() => over.abort())
}

/** Shorter than what balancers wait for an answer. */
const longestMs = 3_000
