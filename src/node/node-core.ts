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
 * What every process on a database does, whether it keeps the ledger itself or follows nodes: it takes part in the
 * election of the leader, keeps the newest commitments and watches the clock.
 */

/** What a node is opened with. */
export interface NodeDeps {
  readonly store: Store
  readonly clock: GuardedClock
  readonly log: Log
  /** Names this process to others on the same database. */
  readonly holder: string
  /** Called with the newest position of the log after every commit of this process. */
  readonly onCommitted: (seq: number) => void
  /** Ends a start that takes long. */
  readonly stopping?: AbortSignal | undefined
  /** Times what the writer does; without it nothing is timed. */
  readonly times?: WriterTimes | undefined
}

/** Durations of what the writer does, in milliseconds. */
export interface WriterTimes {
  booked(blocks: number, ms: number): void
  committed(slots: number, ms: number): void
}

/** The parts that embedded and upstream mode share. */
export interface NodeCore {
  readonly commitments: Commitments
  /** Enters the election; with `lease` as the leader. `lead` does the work of a term. */
  enterElection(lead: LeaderElectionDeps['lead'], lease: Lease | undefined): void
  isWriting(): boolean
  /** The slot of this moment. */
  slot(): SlotIndex
  committedSlot(): SlotIndex
  /** Takes in what this process committed, the oldest slot first, and announces it. */
  committed(slots: readonly CommittedSlot[], seq: number): void
  /** Why no block can be taken now; the mode's own reason comes before those of the clock. */
  unavailable(own: LedgerUnavailable['reason'] | undefined): LedgerUnavailable | undefined
  /** Why the process cannot do its work: the mode's own reason and those of the clock and the lease. */
  reasons(own: HealthReason | undefined): readonly HealthReason[]
  status(): Pick<
    SourceStatus,
    'role' | 'term' | 'latestCommitmentId' | 'latestCommittedSlot' | 'slot'
  >
  /** Refuses blocks from now on, waits for `drain`, then gives the lease back. */
  close(drain: () => Promise<void>): Promise<void>
}

/** Opens the shared parts; the election begins with `enterElection`. */
export async function openNodeCore(
  { onCommitted, ...deps }: NodeDeps,
  { parameters }: Network,
): Promise<NodeCore> {
  const { store, clock, log } = deps
  const election = createElectionEntry(deps)
  let isClosing = false
  const isWriting = () => election.status().role === 'WRITER'
  const slot = () => slotOfTime(parameters, clock.nowNs())
  const commitments = await openCommitments({ store, parameters, log, isWriting })
  const committedSlot = () => commitments.newest().commitment.slot
  const clockWatch = watchClock({ clock, log, parameters, newestSlot: committedSlot })

  function committed(slots: readonly CommittedSlot[], seq: number): void {
    for (const one of slots) commitments.add(one)
    onCommitted(seq)
  }

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
    isClosing = true
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
    unavailable,
    reasons,
    status,
    close,
  }
}

/** The part of a process in the election of the leader; a standby until it has entered. */
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

/** Why the clock forbids to take a block. */
function clockFaults(clock: GuardedClock, clockWatch: ClockWatch) {
  return [
    ...(clock.hasLeapt() ? ['CLOCK_LEAPT' as const] : []),
    ...(clockWatch.isBehind() ? ['CLOCK_BEHIND' as const] : []),
  ]
}
