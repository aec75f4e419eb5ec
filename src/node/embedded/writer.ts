import { setTimeout as delay } from 'node:timers/promises'
import type { CommittedSlot } from '../../ledger/commit-slot.ts'
import { present } from '../../lib/assert.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { ok, type Result } from '../../lib/result.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { slotEnd, slotOfTime } from '../../protocol/slots.ts'
import type { LeaseLost } from '../../store/contract.ts'
import type { LeaderTerm } from '../leader-election.ts'
import { type BookingDeps, createBooker } from './booking.ts'
import { commitSlots, type SlotsDeps, slotsPerCommit } from './slots.ts'

/** The one writer of a ledger: books the inbox as it fills, and commits slots as they come due. */

/** What the writer needs. */
export interface WriterDeps extends BookingDeps, SlotsDeps {
  readonly clock: Clock
  readonly log: Log
  /** Reads the state as the database has it, at the beginning of every term; gives the newest commitment. */
  load(): Promise<CommittedSlot>
  /** Told of every slot that is committed, the oldest first, and of the newest position of the log. */
  onCommitted(slots: readonly CommittedSlot[], seq: number): void
  /** Told once a term, when nothing is left to catch up with and slots are committed as they end. */
  onRunning(): void
}

/** A writer, at work while the process has the lease. */
export interface LedgerWriter {
  /** There is something in the inbox. */
  wake(): void
  /**
   * Books and commits under a term. Before the term ends by our own will, everything acknowledged is booked; slots that
   * are due, and they may be a month's, are left to the next one.
   */
  lead(reign: LeaderTerm): Promise<LeaseLost | undefined>
}

/** The writer of a process. */
export function createWriter(deps: WriterDeps): LedgerWriter {
  let pause = new AbortController()
  let gathering = new AbortController()
  const booker = createBooker(deps)
  deps.clock.onJump?.(interrupt)

  async function reign({ term, ended }: LeaderTerm): Promise<LeaseLost | undefined> {
    ended.addEventListener('abort', interrupt)
    try {
      return await write(term, ended)
    } finally {
      ended.removeEventListener('abort', interrupt)
    }
  }

  async function write(term: number, ended: AbortSignal): Promise<LeaseLost | undefined> {
    let committed = await deps.load()
    await booker.load()
    let isRunning = false
    for (;;) {
      const booked = await booker.next(term)
      if (!booked.ok) return booked.error
      const { count, isMore } = booked.value
      if (ended.aborted && count === 0) return undefined
      // Asked behind the booking: a slot that ended meanwhile is committed before anything else is made of its end.
      const due = dueSlot()
      if (due > committed.commitment.slot) {
        const upTo = Math.min(due, committed.commitment.slot + slotsPerCommit)
        const advanced = await advance(term, committed, upTo)
        if (!advanced.ok) return advanced.error
        committed = advanced.value
        continue
      }
      if (!isRunning) deps.onRunning()
      isRunning = true
      if (ended.aborted) continue
      if (isMore) continue
      if (count > 0) await gather(count)
      else await sleep(Math.min(msToNextSlot(), tickMs))
    }
  }

  /** Closes slots, books what they hold, gives up what waits in them, and commits them. */
  async function advance(
    term: number,
    former: CommittedSlot,
    upTo: SlotIndex,
  ): Promise<Result<CommittedSlot, LeaseLost>> {
    const closed = await deps.store.write.closeSlots(term, upTo)
    if (!closed.ok) return closed
    for (let isMore = true; isMore; ) {
      const booked = await booker.next(term)
      if (!booked.ok) return booked
      isMore = booked.value.isMore
    }
    const givenUp = await booker.giveUp(term, upTo)
    if (!givenUp.ok) return givenUp
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

  function dueSlot(): SlotIndex {
    const { parameters } = deps.network
    return slotOfTime(parameters, deps.clock.nowNs()) - parameters.minCommittableAge
  }

  function msToNextSlot(): number {
    const { parameters } = deps.network
    const now = deps.clock.nowNs()
    // Counted from the genesis: that need not lie at a whole number of slots since 1970.
    const end = BigInt(slotEnd(parameters, slotOfTime(parameters, now))) * 1_000_000_000n
    return Number((end - now) / 1_000_000n) + 1
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
    gathering = new AbortController()
    const ms = Math.min(booked * gatherMsPerBlock, gatherLimitMs, msToNextSlot())
    await delay(ms, undefined, { signal: gathering.signal }).catch(() => {})
  }

  /** Ends every pause. */
  function interrupt(): void {
    pause.abort()
    gathering.abort()
  }

  return { wake: () => pause.abort(), lead: reign }
}

/** The longest nap: the inbox may be filled by another process. */
const tickMs = 250

/** From 100 blocks a second on each batch is larger than the one before, up to the limit. */
const gatherMsPerBlock = 10
const gatherLimitMs = 150
