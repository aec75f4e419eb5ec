import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../lib/log.ts'
import type { LeaseLost, StoreReader } from '../store/contract.ts'
import { isStoreFault } from '../store/faults.ts'
import { type Lease, type LeaseDeps, leaseRenewalMs, tryLease } from './lease.ts'
import { hasEnded } from './lease-holder.ts'

/**
 * One of many processes on a database does the work that one alone may do. All others are members, and stand for its
 * lease: when it ends, one of them takes over. Knows nothing of what the work is.
 */

/** What standing for the lease needs. */
export interface LeaderElectionDeps extends LeaseDeps {
  readonly read: Pick<StoreReader, 'lease'>
  readonly log: Log
  /**
   * Does the work of one term until `ended` fires, and comes to an end then; or says at once that the lease is lost, when
   * a write did. What it throws is logged, and after a second it is called again, as long as the term lasts.
   */
  lead(reign: LeaderTerm): Promise<LeaseLost | undefined>
}

/** A term of this process. */
export interface LeaderTerm {
  /** Every write must be made under it: that is what keeps a former holder from writing. */
  readonly term: number
  /** Fires when the process is closed, or has seen that the lease is lost. */
  readonly ended: AbortSignal
}

/** What a process is among those on its database. */
export interface LeaderStatus {
  readonly role: 'WRITER' | 'STANDBY'
  /** The term of the writer, as far as it was heard of; 0 before anything was. */
  readonly term: number
}

/** A process that stands, or holds. */
export interface LeaderElection {
  status(): LeaderStatus
  /** Whether the last look at the lease, or its last renewal, went well: a writer that cannot renew cannot write either. */
  isSound(): boolean
  /** Somebody said that the lease is free: it is looked at now and not within a second. */
  checkNow(): void
  /** Ends the work, gives the lease back and stands no more. */
  close(): Promise<void>
}

/** Begins to stand; with `first` it begins as the holder of a lease that was just taken. */
export function openLeaderElection(deps: LeaderElectionDeps, first?: Lease): LeaderElection {
  const closing = new AbortController()
  let nap = new AbortController()
  let held = first
  let heardTerm = first?.term ?? 0
  let isSound = true
  let complaint = { said: '', at: 0 }
  const finished = run()

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        held ??= await stand()
      } catch (failure) {
        isSound = false
        complain('lease-unread', failure)
        await sleep(retryMs)
      }
      if (held === undefined) continue
      const lost = await hold(held)
      if (lost === undefined) await giveBack(held)
      else deps.log.warn('lease-lost', { term: lost.term })
      held = undefined
    }
    if (held !== undefined) await giveBack(held)
  }

  /** Looks at the lease until it can be had; the look is one cheap read. */
  async function stand(): Promise<Lease | undefined> {
    while (!closing.signal.aborted) {
      const row = await deps.read.lease()
      heardTerm = row?.term ?? heardTerm
      const leftMs = row === undefined || hasEnded(row.holder) ? 0 : row.leftMs
      if (leftMs <= 0) {
        const taken = await tryLease(deps)
        if (taken.ok) return taken.value
      }
      isSound = true
      // A lease that has run out and cannot be had is that of a holder in the middle of a long write, or was just taken.
      await sleep(Math.max(Math.min(leftMs + 1, leaseRenewalMs), shortestPauseMs))
    }
    return undefined
  }

  async function hold(lease: Lease): Promise<LeaseLost | undefined> {
    const { term } = lease
    heardTerm = term
    isSound = true
    deps.log.info('lease-taken', { term })
    const over = new AbortController()
    const end = () => over.abort()
    closing.signal.addEventListener('abort', end)
    if (closing.signal.aborted) end()
    const renewing = renewUntil(lease, over)
    let outcome: LeaseLost | undefined
    for (;;) {
      try {
        outcome = await deps.lead({ term, ended: over.signal })
        break
      } catch (failure) {
        complain('writer-failed', failure)
        if (over.signal.aborted) break
        await sleep(retryMs)
      }
    }
    end()
    closing.signal.removeEventListener('abort', end)
    return (await renewing) ?? outcome
  }

  /** Renews the lease until the term is over; `LeaseLost` when somebody else has taken it. */
  async function renewUntil(lease: Lease, over: AbortController): Promise<LeaseLost | undefined> {
    while (!over.signal.aborted) {
      await delay(leaseRenewalMs, undefined, { signal: over.signal }).catch(() => {})
      if (over.signal.aborted) return undefined
      try {
        const renewed = await lease.renew()
        isSound = true
        if (renewed.ok) continue
        over.abort()
        return renewed.error
      } catch (failure) {
        // The lease may well be ours when the database is back.
        isSound = false
        complain('lease-not-renewed', failure)
      }
    }
    return undefined
  }

  async function giveBack(lease: Lease): Promise<void> {
    try {
      await lease.release()
    } catch (failure) {
      // Then it runs out.
      complain('lease-not-released', failure)
    }
  }

  /** What is wrong with the database is said once, and not here; the same failure of ours once in a while. */
  function complain(event: string, failure: unknown): void {
    if (isStoreFault(failure)) return
    const said = `${event} ${failure}`
    if (said === complaint.said && performance.now() < complaint.at + complainEveryMs) return
    complaint = { said, at: performance.now() }
    deps.log.error(event, { error: failure })
  }

  async function sleep(ms: number): Promise<void> {
    if (closing.signal.aborted) return
    // What was said while nobody slept counts too.
    if (!nap.signal.aborted) await delay(ms, undefined, { signal: nap.signal }).catch(() => {})
    if (nap.signal.aborted) nap = new AbortController()
  }

  return {
    status: () => ({ role: held === undefined ? 'STANDBY' : 'WRITER', term: heardTerm }),
    isSound: () => isSound,
    checkNow: () => nap.abort(),
    close: async () => {
      closing.abort()
      nap.abort()
      await finished
    },
  }
}

/** How long a failing database is left alone. */
const retryMs = 1_000

const shortestPauseMs = 50

/** What fails is begun again every second, and would fail again as often. */
const complainEveryMs = 60_000
