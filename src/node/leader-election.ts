import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../lib/log.ts'
import { createSignal, type Signal } from '../lib/signal.ts'
import type { LeaseLost } from '../store/contract/lease.ts'
import type { StoreReader } from '../store/contract.ts'
import { createFailureLog } from '../store/failure-log.ts'
import { isStoreFault } from '../store/faults.ts'
import { createStaleCheck } from '../store/write/lease.ts'
import { type Lease, type LeaseDeps, leaseRenewalMs, tryLease } from './lease.ts'
import { hasEnded } from './lease-holder.ts'

/**
 * One of the processes on a database is the leader and does the work that only one process may do. All others are standbys: when
 * the lease of the leader ends, a standby takes it.
 */

export interface LeaderElectionDeps extends LeaseDeps {
  readonly read: Pick<StoreReader, 'lease'>
  /** Whether processes on several machines share the database. Such a database notifies them. */
  readonly isShared: boolean
  readonly log: Log
  /**
   * Does the work of one term and returns when `ended` fires, or as soon as a write fails because the lease is lost. An exception
   * is logged, and the call is retried after a second. After `maxFailures` failures in a row on a shared database that responds,
   * the lease is released for another process.
   */
  lead(term: LeaderTerm): Promise<LeaseLost | undefined>
}

export interface LeaderTerm {
  /** The number of the term. Every write names it, so that a former leader cannot write. */
  readonly term: number
  /** Fires when the process closes or detects that the lease is lost. */
  readonly ended: AbortSignal
}

/** The role of a process in the election on its database. */
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
  /** Reads the lease immediately instead of within a second, because it may be free. */
  checkNow(): void
  /** Ends the work, releases the lease and leaves the election. */
  close(): Promise<void>
}

/** Enters the election. With `first`, a lease that was just taken, the process enters as the leader. */
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
    unreadSince: undefined,
    logFailure,
  }
  const finished = run()

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        state.held ??= await waitForLease(deps, state, { mayBeFree, signal })
      } catch (failure) {
        unread(deps, state, failure)
        await mayBeFree.wait({ ms: retryMs, signal })
      }
      if (state.held !== undefined) await holdLease(deps, state, state.held, signal)
      state.held = undefined
      // Leaves time for another process, which may be able to do the work, to take the lease.
      if (state.isUnable) await pause(unableMs, signal)
      state.isUnable = false
    }
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
  /** Whether the lease was released because the work fails. */
  isUnable: boolean
  /** Time of the first failure to read or take the lease, by `performance.now()`; `undefined` while it succeeds. */
  unreadSince: number | undefined
  readonly logFailure: (event: string, failure: unknown) => void
}

interface LeaseWait {
  /** Notified when the lease may be free. */
  readonly mayBeFree: Signal
  readonly signal: AbortSignal
}

/** Reads the lease, which is cheap, until the lease can be taken. */
async function waitForLease(
  deps: LeaderElectionDeps,
  state: ElectionState,
  { mayBeFree, signal }: LeaseWait,
): Promise<Lease | undefined> {
  const isStale = createStaleCheck()
  while (!signal.aborted) {
    // A process that does not write detects a rewound history too, and records it for all processes.
    if (deps.isShared) await deps.write.checkHistory()
    const row = await deps.read.lease()
    state.term = row?.term ?? state.term
    const leftMs = row === undefined || hasEnded(row.holder) ? 0 : row.leftMs
    if (row !== undefined && isStale(row)) {
      await deps.write.releaseLease(row.term)
      continue
    }
    if (leftMs <= 0) {
      const taken = await tryLease(deps)
      if (taken.ok) return taken.value
    }
    sound(deps, state)
    // An expired lease that cannot be taken belongs to a leader in a long write, or was just taken.
    const maxMs = deps.isShared ? leaseRenewalMs : unnotifiedMs
    const ms = Math.max(Math.min(leftMs + 1, maxMs), minPauseMs)
    await mayBeFree.wait({ ms, signal })
  }
  return undefined
}

/** Records that the lease cannot be read or taken, and logs the first such failure. `fault-log.ts` logs faults of the store. */
function unread({ log }: LeaderElectionDeps, state: ElectionState, failure: unknown): void {
  state.isSound = false
  if (isStoreFault(failure) || state.unreadSince !== undefined) return
  state.unreadSince = performance.now()
  log.error('lease-unread', { error: failure })
}

/** Records that the lease can be read, and logs the end of a failure. */
function sound({ log }: LeaderElectionDeps, state: ElectionState): void {
  state.isSound = true
  if (state.unreadSince === undefined) return
  log.info('lease-read', { lastedMs: Math.round(performance.now() - state.unreadSince) })
  state.unreadSince = undefined
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
  sound(deps, state)
  deps.log.info('lease-taken', { term })
  const termEnd = new AbortController()
  const end = () => termEnd.abort()
  closing.addEventListener('abort', end)
  if (closing.aborted) end()
  const renewing = renewUntil(state, lease, termEnd)
  const refused = await leadUntil(deps, state, { term, ended: termEnd.signal })
  end()
  closing.removeEventListener('abort', end)
  const lost = (await renewing) ?? refused
  if (lost === undefined) await release(state, lease)
  else deps.log.warn('lease-lost', { term: lost.term })
}

/** Does the work of a term and retries after a failure. Returns `LeaseLost` when a write detected the loss. */
async function leadUntil(
  { lead, write, log, isShared }: LeaderElectionDeps,
  state: ElectionState,
  term: LeaderTerm,
): Promise<LeaseLost | undefined> {
  for (let failures = 0; ; ) {
    const begun = performance.now()
    try {
      // A retry must begin with the state that readers see: commits that could not be published are published first.
      if (isShared && failures > 0) await write.checkHistory()
      return await lead(term)
    } catch (failure) {
      state.logFailure('writer-failed', failure)
      if (term.ended.aborted) return undefined
      const isFirst = performance.now() - begun > steadyMs
      // An unreachable database fails for every process, and says nothing about this one.
      failures = !state.isSound ? 0 : isFirst ? 1 : failures + 1
      if (isShared && failures >= maxFailures) {
        state.isUnable = true
        log.warn('lease-given-back', { term: term.term })
        return undefined
      }
      await pause(retryMs, term.ended)
    }
  }
}

/** Renews the lease until the term is over. Returns `LeaseLost` when another process has taken the lease. */
async function renewUntil(
  state: ElectionState,
  lease: Lease,
  termEnd: AbortController,
): Promise<LeaseLost | undefined> {
  while (!termEnd.signal.aborted) {
    await pause(leaseRenewalMs, termEnd.signal)
    if (termEnd.signal.aborted) return undefined
    try {
      const renewed = await lease.renew()
      state.isSound = true
      if (renewed.ok) continue
      termEnd.abort()
      return renewed.error
    } catch (failure) {
      // This process may still hold the lease when the database is reachable again.
      state.isSound = false
      state.logFailure('lease-not-renewed', failure)
    }
  }
  return undefined
}

async function release({ logFailure }: ElectionState, lease: Lease): Promise<void> {
  try {
    await lease.release()
  } catch (failure) {
    // An unreleased lease expires.
    logFailure('lease-not-released', failure)
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {})
}

/** Milliseconds before a failed read of the database or a failed term is retried. */
const retryMs = 1_000

const minPauseMs = 50

/** Milliseconds between two reads of the lease of a file: no process is notified when another one releases it. */
const unnotifiedMs = 100

/** A failure after this many milliseconds of work counts as the first one again. */
const steadyMs = 60_000
const maxFailures = 5

/** Milliseconds before the lease is tried again; longer than the pause of a standby between two reads of the lease. */
const unableMs = 5_000
