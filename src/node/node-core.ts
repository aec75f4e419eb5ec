import type { CommittedSlot } from '../ledger/commit-slot.ts'
import type { GuardedClock } from '../lib/guarded-clock.ts'
import type { Log } from '../lib/log.ts'
import type { Network } from '../protocol/network.ts'
import type { SlotIndex } from '../protocol/primitives.ts'
import { slotOfTime } from '../protocol/slots.ts'
import type { Store } from '../store/contract.ts'
import { type ClockWatch, watchClock } from './clock-watch.ts'
import { type Commitments, openCommitments } from './commitments.ts'
import type { HealthReason } from './health-reasons.ts'
import {
  type LeaderElection,
  type LeaderElectionDeps,
  openLeaderElection,
} from './leader-election.ts'
import type { Lease } from './lease.ts'
import type { LedgerUnavailable, SourceStatus } from './source.ts'

/**
 * The work of every process on a database, in embedded and in upstream mode: it takes part in the leader election, caches the
 * newest commitments and watches the clock.
 */

export interface NodeDeps {
  readonly store: Store
  readonly clock: GuardedClock
  readonly log: Log
  /** The name of this process for other processes on the same database. */
  readonly holder: string
  /** Called with the newest position of the log after every commit of this process. */
  readonly onCommitted: (seq: number) => void
  /** Aborts a long start. */
  readonly stopping?: AbortSignal | undefined
  /** Records durations of the writer; without it nothing is recorded. */
  readonly times?: WriterTimes | undefined
}

/** Records durations of the writer, in milliseconds. */
export interface WriterTimes {
  booked(blocks: number, ms: number): void
  committed(slots: number, ms: number): void
}

/** The parts that embedded and upstream mode share. */
export interface NodeCore {
  readonly commitments: Commitments
  /** Enters the election, as the leader if `lease` is given. `lead` does the work of a term. */
  enterElection(lead: LeaderElectionDeps['lead'], lease: Lease | undefined): void
  isWriting(): boolean
  /** The current slot. */
  slot(): SlotIndex
  committedSlot(): SlotIndex
  /** Records the slots that this process committed, oldest first, and announces them. */
  committed(slots: readonly CommittedSlot[], seq: number): void
  /** Why no block can be accepted now. The reason of the mode precedes the reasons of the clock. */
  unavailable(own: LedgerUnavailable['reason'] | undefined): LedgerUnavailable | undefined
  /** Why the process cannot do its work: the reason of the mode, and the reasons of the clock and the lease. */
  reasons(own: HealthReason | undefined): readonly HealthReason[]
  status(): Pick<
    SourceStatus,
    'role' | 'term' | 'latestCommitmentId' | 'latestCommittedSlot' | 'slot'
  >
  /** Refuses blocks from now on, waits for `drain`, then releases the lease. */
  close(drain: () => Promise<void>): Promise<void>
}

/** Opens the shared parts; the election begins with `enterElection`. */
export async function openNodeCore(
  { onCommitted, ...deps }: NodeDeps,
  { parameters }: Network,
): Promise<NodeCore> {
  const { store, clock, log } = deps
  const election = createElectionEntry(deps)
  const isWriting = () => election.status().role === 'WRITER'
  const slot = () => slotOfTime(parameters, clock.nowNs())
  const commitments = await openCommitments({ store, parameters, log, isWriting })
  const committedSlot = () => commitments.newest().commitment.slot
  const clockWatch = watchClock({ clock, log, parameters, newestSlot: committedSlot })
  const availability = createAvailability({ store, clock, clockWatch, election })

  function committed(slots: readonly CommittedSlot[], seq: number): void {
    for (const slot of slots) commitments.add(slot)
    onCommitted(seq)
  }

  function status() {
    const { commitmentId, commitment } = commitments.newest()
    return {
      ...election.status(),
      latestCommitmentId: commitmentId,
      latestCommittedSlot: commitment.slot,
      slot: slot(),
    }
  }

  async function close(drain: () => Promise<void>): Promise<void> {
    availability.beginClosing()
    await drain()
    await election.close()
    clockWatch.close()
    await commitments.close()
  }

  return {
    commitments,
    enterElection: election.enter,
    isWriting,
    slot,
    committedSlot,
    committed,
    unavailable: availability.unavailable,
    reasons: availability.reasons,
    status,
    close,
  }
}

interface AvailabilityDeps {
  readonly store: Pick<Store, 'isRewound'>
  readonly clock: GuardedClock
  readonly clockWatch: ClockWatch
  readonly election: Pick<LeaderElection, 'isSound'>
}

/** Combines the reason of the mode with the reasons that both modes share. */
function createAvailability({ store, clock, clockWatch, election }: AvailabilityDeps) {
  let isClosing = false

  function history(): 'HISTORY_REWOUND' | undefined {
    return store.isRewound() ? 'HISTORY_REWOUND' : undefined
  }

  function unavailable(own: LedgerUnavailable['reason'] | undefined) {
    const reason = isClosing ? 'CLOSING' : (history() ?? own ?? clockFaults(clock, clockWatch)[0])
    return reason && ({ code: 'LEDGER_UNAVAILABLE', reason } as const)
  }

  function reasons(own: HealthReason | undefined): HealthReason[] {
    return [
      ...(isClosing ? ['CLOSING' as const] : []),
      ...[history(), own].filter((reason) => reason !== undefined),
      ...clockFaults(clock, clockWatch),
      ...(election.isSound() ? [] : ['LEASE_UNCONFIRMED' as const]),
    ]
  }

  function beginClosing(): void {
    isClosing = true
  }

  return { unavailable, reasons, beginClosing }
}

/** The role of a process in the leader election: a standby until it enters. */
function createElectionEntry(deps: Omit<NodeDeps, 'onCommitted'>) {
  const { read, write, listen, isShared } = deps.store
  let election: LeaderElection | undefined
  let listening: ReturnType<Store['listen']> | undefined

  function enter(lead: LeaderElectionDeps['lead'], lease: Lease | undefined): void {
    const entered = openLeaderElection({ ...deps, read, write, isShared, lead }, lease)
    election = entered
    listening = listen(({ topic }) => {
      if (topic === 'LEASE_FREED') entered.checkNow()
    })
  }

  async function close(): Promise<void> {
    await listening?.close()
    await election?.close()
  }

  return {
    enter,
    status: () => election?.status() ?? ({ role: 'STANDBY', term: 0 } as const),
    isSound: () => election?.isSound() === true,
    close,
  }
}

/** The reasons why the clock forbids accepting blocks. */
function clockFaults(clock: GuardedClock, clockWatch: ClockWatch) {
  return [
    ...(clock.hasLeapt() ? ['CLOCK_LEAPT' as const] : []),
    ...(clockWatch.isBehind() ? ['CLOCK_BEHIND' as const] : []),
  ]
}
