import { setTimeout as delay } from 'node:timers/promises'
import type { Contradiction } from '../../node/contradiction.ts'
import type { HealthReason } from '../../node/health-reasons.ts'

export { healthReasonCodes, healthReasons } from '../../node/health-reasons.ts'

import type { FollowingStatus, LedgerUnavailable, Starting } from '../../node/source.ts'
import type { AnswerUnreadable } from '../../node/unreadable.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { Services } from '../services.ts'

/** An answer of an upstream node that contradicts what is committed here. */
export type NodeContradiction = Contradiction

/** An answer of an upstream node that cannot be read. */
export type NodeAnswerUnreadable = AnswerUnreadable

/** Whether the gateway can do its work. */
export interface Health {
  /** Whether there is no reason against it. */
  readonly isHealthy: boolean
  /** Why it cannot, or is about to stop; none while it can. */
  readonly reasons: readonly HealthReason[]
  /** The one of them for which the ledger takes no blocks; `undefined` while it does. */
  readonly reason: LedgerUnavailable['reason'] | undefined
  /** Whether this process writes the ledger, or another one on its database does. */
  readonly role: 'WRITER' | 'STANDBY'
  /** The lease term of the writer, as far as this process knows it. */
  readonly term: number
  /** What a process that has the lease waits for before it writes; `undefined` where it waits for nothing. */
  readonly starting: Starting | undefined
  /** In upstream mode: how following the node goes. */
  readonly following: FollowingHealth | undefined
}

/** How the following of a node goes, and how far it has come. */
export interface FollowingHealth extends FollowingStatus {
  readonly committedSlot: SlotIndex
}

/**
 * Asks the database for an answer, and reads the role of this process among those on the database. Where the log has become another
 * one, its feeds are led there first: one that is opened once the gateway is healthy again must not begin in the former log.
 */
export async function readHealth(
  { store, source, feed: { tail } }: Pick<Services, 'store' | 'source' | 'feed'>,
  { isStopping }: { readonly isStopping: boolean },
): Promise<Health> {
  const { unavailable: reason, ...status } = source.status()
  const { role, term, starting, latestCommittedSlot: committedSlot } = status
  const following = status.following && { ...status.following, committedSlot }
  const isAnswering = await answersInTime(async () => {
    const { logId } = await store.read.logTip()
    if (logId !== tail.tip().logId) await tail.freshTip(Number.POSITIVE_INFINITY)
  })
  const reasons = new Set<HealthReason>([
    ...(isStopping ? ['CLOSING' as const] : []),
    ...status.reasons,
    ...(store.replicas()?.isPrimaryAway ? ['PRIMARY_AWAY' as const] : []),
    ...(isAnswering ? [] : ['DATABASE_AWAY' as const]),
  ])
  const isHealthy = reasons.size === 0
  return { isHealthy, reasons: [...reasons], reason, role, term, starting, following }
}

/** Over a broken network no answer may come at all, not even a failure. The log of the process has the reason. */
async function answersInTime(read: () => Promise<unknown>): Promise<boolean> {
  const over = new AbortController()
  const answered = read().then(
    () => true,
    () => false,
  )
  const late = delay(longestMs, false, { signal: over.signal, ref: false }).catch(() => false)
  return Promise.race([answered, late]).finally(() => over.abort())
}

/** Shorter than the usual time limit of a load balancer's health check. */
const longestMs = 3_000
