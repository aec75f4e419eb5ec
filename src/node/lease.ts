import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../lib/log.ts'
import { err, ok, type Result } from '../lib/result.ts'
import {
  type LeaseHeld,
  type LeaseLost,
  leaseTtlMs,
  longestLeaseMs,
} from '../store/contract/lease.ts'
import type { StoreWriter } from '../store/contract.ts'
import { hasEnded } from './lease-holder.ts'

/** The right to write this ledger: one holder at a time, renewed every second, taken over when it expires. */

export interface LeaseDeps {
  readonly write: Pick<StoreWriter, 'takeLease' | 'renewLease' | 'releaseLease' | 'checkHistory'>
  readonly log: Log
  /** The name of this process for other processes. */
  readonly holder: string
}

/** A lease that this process holds until it is lost or released. */
export interface Lease {
  readonly term: number
  /** Extends the lease. A success shows that no other process has written meanwhile. */
  renew(): Promise<Result<unknown, LeaseLost>>
  release(): Promise<void>
}

/** Milliseconds between two renewals. */
export const leaseRenewalMs = 1_000

/**
 * Takes the lease if it is free, has expired, or belongs to a killed process. If the holder has certainly ended, its lease is
 * released first.
 */
export async function tryLease(deps: LeaseDeps): Promise<Result<Lease, LeaseHeld>> {
  const first = await attempt(deps)
  if (first.ok || !hasEnded(first.error.holder)) return first
  const { holder, term } = first.error
  deps.log.info('lease-inherited', { holder, term })
  // Safe even if the holder still runs: its writes fail as soon as the next term begins.
  await deps.write.releaseLease(term)
  return attempt(deps)
}

/**
 * Takes the lease like `tryLease`, but waits for the longest lease period if another process holds it, because that process may
 * have ended. A renewal shows that the process runs, and ends the wait; so does the signal.
 */
export async function awaitLease(
  deps: LeaseDeps,
  signal: AbortSignal,
): Promise<Result<Lease, LeaseHeld>> {
  const first = await tryLease(deps)
  if (first.ok) return first
  deps.log.info('lease-awaited', { holder: first.error.holder })
  for (let waited = 0; waited < longestLeaseMs + leaseRenewalMs; waited += pollMs) {
    await delay(pollMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return first
    const next = await attempt(deps)
    if (next.ok || next.error.until !== first.error.until) return next
  }
  // No lease lasts so long without a renewal, so the clock of the database was set back after the last one.
  await deps.write.releaseLease(first.error.term)
  return attempt(deps)
}

const pollMs = 100

async function attempt({ write, holder }: LeaseDeps): Promise<Result<Lease, LeaseHeld>> {
  const taken = await write.takeLease({ holder, ttlMs: leaseTtlMs })
  if (!taken.ok) return err(taken.error)
  const { term } = taken.value
  return ok({
    term,
    renew: () => write.renewLease(term, leaseTtlMs),
    release: () => write.releaseLease(term),
  })
}
