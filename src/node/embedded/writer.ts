import { setTimeout as delay } from 'node:timers/promises'
import type { CommittedSlot } from '../../ledger/commit-slot.ts'
import { present } from '../../lib/assert.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { ok, type Result } from '../../lib/result.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { slotOfTime } from '../../protocol/slots.ts'
import type { LeaseLost } from '../../store/contract.ts'
import { type BookingDeps, bookingBatch, bookNext } from './booking.ts'
import { type Lease, leaseRenewalMs, takeLease } from './lease.ts'
import { commitSlots, type SlotsDeps, slotsPerCommit } from './slots.ts'

/** The one writer of a ledger: books the inbox as it fills, and commits slots as they come due. */

/** What the writer needs. */
export interface WriterDeps extends BookingDeps, SlotsDeps {
  readonly clock: Clock
  readonly log: Log
  readonly holder: string
  /** The newest commitment as the database has it; asked whenever the lease is new. */
  loadCommitted(): Promise<CommittedSlot>
  /** Told of every slot that is committed, the oldest first, and of the newest position of the log. */
  onCommitted(slots: readonly CommittedSlot[], seq: number): void
  /** Told when the writer begins and ceases to keep up. */
  onState(state: WriterState): void
}

/** STARTING: catching up with the clock. RUNNING: slots are committed as they end. LEASE_LOST: another process writes. */
export type WriterState = 'STARTING' | 'RUNNING' | 'LEASE_LOST'

/** A writer at work. */
export interface LedgerWriter {
  /** There is something in the inbox. */
  wake(): void
  /** Books what was acknowledged, gives the lease back and stops. */
  close(): Promise<void>
}

/** Starts the writer with a lease it holds. It goes on until it is closed, whatever the database does. */
export function startWriter(deps: WriterDeps, first: Lease): LedgerWriter {
  let closing = false
  let pause = new AbortController()
  let gathering = new AbortController()
  let lease: Lease | undefined = first
  deps.clock.onJump?.(interrupt)
  const finished = run()

  async function run(): Promise<void> {
    while (!closing) {
      try {
        lease ??= await regain()
        if (lease === undefined) continue
        const lost = await reign(lease)
        if (lost !== undefined) {
          lease = undefined
          deps.log.error('lease-lost', { term: lost.term })
          deps.onState('LEASE_LOST')
        }
      } catch (failure) {
        deps.log.error('writer-failed', { error: failure })
        deps.onState('STARTING')
        await sleep(retryMs)
      }
    }
  }

  /** Writes under one lease until it is lost, or until the writer is closed. */
  async function reign(held: Lease): Promise<LeaseLost | undefined> {
    let committed = await deps.loadCommitted()
    let renewAt = 0
    for (;;) {
      if (performance.now() >= renewAt) {
        const renewed = await held.renew()
        if (!renewed.ok) return renewed.error
        renewAt = performance.now() + leaseRenewalMs
      }
      const due = dueSlot()
      const booked = await bookNext(deps, held.term)
      if (!booked.ok) return booked.error
      // What was acknowledged is booked; slots that are due, and they may be a month's, are left to the next start.
      if (closing && booked.value === 0) return undefined
      if (due > committed.commitment.slot) {
        const upTo = Math.min(due, committed.commitment.slot + slotsPerCommit)
        const advanced = await advance(held.term, committed, upTo)
        if (!advanced.ok) return advanced.error
        committed = advanced.value
        deps.onState(committed.commitment.slot >= dueSlot() - 1 ? 'RUNNING' : 'STARTING')
        continue
      }
      deps.onState('RUNNING')
      if (booked.value > 0) await gather(booked.value)
      else await sleep(Math.min(msToNextSlot(), tickMs))
    }
  }

  /** Closes slots, books what they hold, and commits them. */
  async function advance(
    term: number,
    former: CommittedSlot,
    upTo: SlotIndex,
  ): Promise<Result<CommittedSlot, LeaseLost>> {
    const closed = await deps.store.write.closeSlots(term, upTo)
    if (!closed.ok) return closed
    for (let count = bookingBatch; count === bookingBatch; ) {
      const booked = await bookNext(deps, term)
      if (!booked.ok) return booked
      count = booked.value
    }
    const committed = await commitSlots(deps, term, { former, upTo })
    if (!committed.ok) return committed
    const { slots, tip } = committed.value
    deps.log.debug('slots-committed', { from: former.commitment.slot + 1, upTo, seq: tip.seq })
    if (upTo - former.commitment.slot > 1) {
      deps.log.info('catching-up', { slot: upTo, remaining: Math.max(dueSlot() - upTo, 0) })
    }
    deps.onCommitted(slots, tip.seq)
    return ok(present(slots.at(-1), 'a committed slot'))
  }

  /** Another process took over; wait until it ends. */
  async function regain(): Promise<Lease | undefined> {
    await sleep(leaseRenewalMs)
    if (closing) return undefined
    const taken = await takeLease({ write: deps.store.write, log: deps.log, holder: deps.holder })
    return taken.ok ? taken.value : undefined
  }

  function dueSlot(): SlotIndex {
    const { parameters } = deps.network
    return slotOfTime(parameters, deps.clock.nowNs()) - parameters.minCommittableAge
  }

  function msToNextSlot(): number {
    const slotNs = BigInt(deps.network.parameters.slotDurationInSeconds) * 1_000_000_000n
    return Number((slotNs - (deps.clock.nowNs() % slotNs)) / 1_000_000n) + 1
  }

  async function sleep(ms: number): Promise<void> {
    if (pause.signal.aborted) pause = new AbortController()
    else await delay(ms, undefined, { signal: pause.signal }).catch(() => {})
  }

  /**
   * Lets the inbox fill after a booking: a batch asks the database as much as a single block. It waits the longer the
   * more blocks there were, so that a block that comes alone is booked at once.
   */
  async function gather(booked: number): Promise<void> {
    if (booked === bookingBatch || closing) return
    gathering = new AbortController()
    const ms = Math.min(booked * gatherMsPerBlock, gatherLimitMs, msToNextSlot())
    await delay(ms, undefined, { signal: gathering.signal }).catch(() => {})
  }

  /** Ends every pause. */
  function interrupt(): void {
    pause.abort()
    gathering.abort()
  }

  async function close(): Promise<void> {
    closing = true
    interrupt()
    await finished
    await lease?.release()
  }

  return { wake: () => pause.abort(), close }
}

/** The longest nap: the inbox may be filled by another process. */
const tickMs = 250

/** From 100 blocks a second on each batch is larger than the one before, up to the limit. */
const gatherMsPerBlock = 10
const gatherLimitMs = 150

/** How long a failing database is left alone. */
const retryMs = 1_000
