import { setTimeout as delay } from 'node:timers/promises'
import type { HealthReason } from '../../node/health-reasons.ts'

export { healthReasonCodes, healthReasons } from '../../node/health-reasons.ts'

import type { FollowingStatus, LedgerUnavailable, StartupStep } from '../../node/source.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { Services } from '../services.ts'

export type { Contradiction } from '../../node/contradiction.ts'
export type { AnswerUnreadable } from '../../node/unreadable.ts'

export interface Health {
  /** Whether `reasons` is empty. */
  readonly isHealthy: boolean
  /** Why the gateway is unhealthy or about to stop; empty while it is healthy. */
  readonly reasons: readonly HealthReason[]
  /** The reason why the ledger accepts no blocks; `undefined` while it accepts them. */
  readonly reason: LedgerUnavailable['reason'] | undefined
  /** Whether this process writes the ledger, or another process on the database does. */
  readonly role: 'WRITER' | 'STANDBY'
  /** The lease term of the writer, as far as this process knows it. */
  readonly term: number
  /** What a process that has the lease waits for before it writes; `undefined` if it waits for nothing. */
  readonly starting: StartupStep | undefined
  /** Progress of following the node; only in upstream mode. */
  readonly following: FollowingHealth | undefined
}

/** Progress of following a node, with the newest committed slot. */
export interface FollowingHealth extends FollowingStatus {
  readonly committedSlot: SlotIndex
}

/**
 * Checks that the database responds, and reads the role of this process. If the log was replaced, the feeds switch to the new
 * log first: a feed that is opened once the gateway is healthy again must not begin in the former log.
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

/** Whether a read succeeds in time. On a broken network a read may never settle. The log of the process has the cause. */
async function answersInTime(read: () => Promise<unknown>): Promise<boolean> {
  const over = new AbortController()
  const answered = read().then(
    () => true,
    () => false,
  )
  const late = delay(readTimeoutMs, false, { signal: over.signal, ref: false }).catch(() => false)
  return Promise.race([answered, late]).finally(() => over.abort())
}

/** Timeout of the read; shorter than the usual timeout of a load balancer's health check. */
const readTimeoutMs = 3_000
