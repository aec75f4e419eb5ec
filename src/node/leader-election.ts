import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../lib/log.ts'
import { createSignal } from '../lib/signal.ts'
import type { StoreReader } from '../store/contract.ts'
import { createFailureLog } from '../store/failure-log.ts'
import type { LeaseLost } from '../store/lease-contract.ts'
import { type Lease, type LeaseDeps, leaseRenewalMs, tryLease } from './lease.ts'
import { hasEnded } from './lease-holder.ts'

/**
 * One of many processes on a database is the leader and does the work that one alone may do. All others are standbys: when
 * the lease of the leader ends, one of them takes it.
 */

/** What the election needs. */
export interface LeaderElectionDeps extends LeaseDeps {
  readonly read: Pick<StoreReader, 'lease'>
  /** Whether processes on several machines use the database, which notifies them. */
  readonly isShared: boolean
  readonly log: Log
  /**
   * Does the work of one term until `ended` fires, and then returns; or returns at once when a write fails because the
   * lease is lost. What it throws is logged, and after a second it is called again; after some failures in a row, while a
   * shared database answers, the lease is given back for another process.
   */
  lead(term: LeaderTerm): Promise<LeaseLost | undefined>
}

/** A term of this process. */
export interface LeaderTerm {
  /** Every write names it, so that a former leader cannot write. */
  readonly term: number
  /** Fires when the process is closed or finds that the lease is lost. */
  readonly ended: AbortSignal
}

/** The role of a process among those on its database. */
export interface LeaderStatus {
  readonly role: 'WRITER' | 'STANDBY'
  /** The term of the writer as this process last read it; 0 before the first read. */
  readonly term: number
}

/** A process that takes part in the election. */
export interface LeaderElection {
  status(): LeaderStatus
  /** Whether the last read or renewal of the lease succeeded: a writer that cannot renew cannot write either. */
  isSound(): boolean
  /** Reads the lease now and not within a second, since it may be free. */
  checkNow(): void
  /** Ends the work, gives the lease back and leaves the election. */
  close(): Promise<void>
}

/** Enters the election; with `first` as the leader, by a lease that was just taken. */
export function openLeaderElection(deps: LeaderElectionDeps, first?: Lease): LeaderElection {
  const closing = new AbortController()
  const { signal } = closing
  const mayBeFree = createSignal()
  const logFailure = createFailureLog(deps.log)
  const state: ElectionState = {
    held: first,
    term: first?.term ?? 0,
    isSound: true,
    isUnable: false,
    logFailure,
  }
  const finished = run()

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        state.held ??= await waitForLease()
      } catch (failure) {
        state.isSound = false
        logFailure('lease-unread', failure)
        await mayBeFree.wait({ ms: retryMs, signal })
      }
      if (state.held !== undefined) await holdLease(deps, state, state.held, signal)
      state.held = undefined
      // Another process that is able to do the work has the time to take it.
      if (state.isUnable) await pause(unableMs, signal)
      state.isUnable = false
    }
    if (state.held !== undefined) await giveBack(state, state.held)
  }

  /** Reads the lease, which is cheap, until it can be taken. */
  async function waitForLease(): Promise<Lease | undefined> {
    while (!signal.aborted) {
      // A process that does not write finds this out too, and what it finds is noted for all.
      if (deps.isShared) await deps.write.checkHistory()
      const row = await deps.read.lease()
      state.term = row?.term ?? state.term
      const leftMs = row === undefined || hasEnded(row.holder) ? 0 : row.leftMs
      if (leftMs <= 0) {
        const taken = await tryLease(deps)
        if (taken.ok) return taken.value
      }
      state.isSound = true
      // A lease that has run out and cannot be taken is that of a leader in a long write, or was just taken.
      const mostMs = deps.isShared ? leaseRenewalMs : unnotifiedMs
      const ms = Math.max(Math.min(leftMs + 1, mostMs), shortestPauseMs)
      await mayBeFree.wait({ ms, signal })
    }
    return undefined
  }

  return {
    status: () => ({ role: state.held === undefined ? 'STANDBY' : 'WRITER', term: state.term }),
    isSound: () => state.isSound,
    checkNow: mayBeFree.notify,
    close: async () => {
      closing.abort()
      await finished
    },
  }
}

interface ElectionState {
  held: Lease | undefined
  term: number
  isSound: boolean
  /** Whether the lease was given back because the work fails. */
  isUnable: boolean
  readonly logFailure: (event: string, failure: unknown) => void
}

/** Leads until the process closes or the lease is lost. */
async function holdLease(
  deps: LeaderElectionDeps,
  state: ElectionState,
  lease: Lease,
  closing: AbortSignal,
): Promise<void> {
  const { term } = lease
  state.term = term
  state.isSound = true
  deps.log.info('lease-taken', { term })
  const over = new AbortController()
  const end = () => over.abort()
  closing.addEventListener('abort', end)
  if (closing.aborted) end()
  const renewing = renewUntil(state, lease, over)
  const refused = await leadUntil(deps, state, { term, ended: over.signal })
  end()
  closing.removeEventListener('abort', end)
  const lost = (await renewing) ?? refused
  if (lost === undefined) await giveBack(state, lease)
  else deps.log.warn('lease-lost', { term: lost.term })
}

/** Does the work of a term, again after a failure; `LeaseLost` when one of its writes found that. */
async function leadUntil(
  { lead, write, log, isShared }: LeaderElectionDeps,
  state: ElectionState,
  term: LeaderTerm,
): Promise<LeaseLost | undefined> {
  for (let failures = 0; ; ) {
    const begun = performance.now()
    try {
      // It begins with what readers see: what was committed and could not be published is published first.
      if (isShared && failures > 0) await write.checkHistory()
      return await lead(term)
    } catch (failure) {
      state.logFailure('writer-failed', failure)
      if (term.ended.aborted) return undefined
      failures = performance.now() - begun > steadyMs ? 1 : failures + 1
      // A database that is away fails for every process.
      if (isShared && failures >= mostFailures && state.isSound) {
        state.isUnable = true
        log.warn('lease-given-back', { term: term.term })
        return undefined
      }
      await pause(retryMs, term.ended)
    }
  }
}

/** Renews the lease until the term is over; `LeaseLost` when another process has taken it. */
async function renewUntil(
  state: ElectionState,
  lease: Lease,
  over: AbortController,
): Promise<LeaseLost | undefined> {
  while (!over.signal.aborted) {
    await pause(leaseRenewalMs, over.signal)
    if (over.signal.aborted) return undefined
    try {
      const renewed = await lease.renew()
      state.isSound = true
      if (renewed.ok) continue
      over.abort()
      return renewed.error
    } catch (failure) {
      // The lease may still be that of this process when the database is back.
      state.isSound = false
      state.logFailure('lease-not-renewed', failure)
    }
  }
  return undefined
}

async function giveBack({ logFailure }: ElectionState, lease: Lease): Promise<void> {
  try {
    await lease.release()
  } catch (failure) {
    // It runs out by itself.
    logFailure('lease-not-released', failure)
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {})
}

/** The pause before a failing database is asked again. */
const retryMs = 1_000

const shortestPauseMs = 50

/** No process is notified when another one gives the lease of a file back. */
const unnotifiedMs = 100

/** Work that lasted as long has begun well. */
const steadyMs = 60_000
const mostFailures = 5

/** Longer than a standby waits between two looks at the lease. */
const unableMs = 5_000
