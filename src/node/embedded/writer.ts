import type { CommittedSlot } from '../../ledger/commit-slot.ts'
import { assert, present } from '../../lib/assert.ts'
import type { Clock } from '../../lib/clock.ts'
import { ok, type Result } from '../../lib/result.ts'
import { createSignal } from '../../lib/signal.ts'
import { inSpan } from '../../lib/tracing.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { slotEnd, slotOfTime } from '../../protocol/slots.ts'
import type { LeaseLost } from '../../store/lease-contract.ts'
import type { Commitments } from '../commitments.ts'
import type { LeaderTerm } from '../leader-election.ts'
import type { WriterTimes } from '../node-core.ts'
import type { Starting } from '../source.ts'
import { type Booker, type BookingDeps, createBooker } from './booking.ts'
import { type BuildProgress, buildTries } from './build-tries.ts'
import { commitSlots, type SlotsDeps, slotsPerCommit } from './slots.ts'
import { type LedgerState, loadLedgerState, type StateMemory } from './state.ts'

/** The one writer of a ledger: books the inbox as it fills, and commits slots as they come due. */

/** What the writer needs beside what booking and committing need. */
export interface WriterDeps extends Omit<BookingDeps & SlotsDeps, 'state'> {
  readonly clock: Clock
  readonly commitments: Pick<Commitments, 'reload' | 'has' | 'newest'>
  /** Called after every commit with its slots, the oldest first, and the newest position of the log. */
  onCommitted(slots: readonly CommittedSlot[], seq: number): void
  /** Called once a term, when every slot that is due is committed. */
  onRunning(): void
  readonly memory: StateMemory
  readonly times?: WriterTimes | undefined
}

/** Writes while the process holds the lease. */
export interface LedgerWriter {
  /** Ends the pause before the next booking: the inbox has new blocks. */
  wake(): void
  /**
   * Books and commits under a term. When this process ends the term itself, everything acknowledged is booked before; slots
   * that are due, and they may be a month's, are left to the next leader.
   */
  lead(leaderTerm: LeaderTerm): Promise<LeaseLost | undefined>
  /** The state of the ledger; `undefined` outside a term. */
  ledger(): LedgerState | undefined
  /** What a term that has begun does before it writes; `undefined` outside a term, and while it writes. */
  starting(): Starting | undefined
  /** Whether every slot that was due at the beginning of the term is committed. */
  isRunning(): boolean
}

/** Creates the writer of a process. */
export function createWriter(deps: WriterDeps): LedgerWriter {
  const { clock, prepared } = deps
  let ledger: LedgerState | undefined
  let starting: Starting | undefined
  let isRunning = false
  const accepted = createSignal()
  const jumped = createSignal()
  const writing = { ...deps, state }
  const booker = createBooker(writing)
  clock.onJump?.(() => {
    accepted.notify()
    jumped.notify()
  })

  async function lead(leaderTerm: LeaderTerm): Promise<LeaseLost | undefined> {
    try {
      return await write(leaderTerm)
    } finally {
      // The next leader prepares the transactions of the blocks that this process took.
      prepared.clear()
      ledger = undefined
      starting = undefined
      isRunning = false
    }
  }

  async function write({ term, ended }: LeaderTerm): Promise<LeaseLost | undefined> {
    starting = { step: 'READING_LEDGER', done: 0, of: 0 }
    let committed = await deps.commitments.reload()
    const built = await buildTries({ store: deps.store, term, ended, onProgress: showBuild })
    if (!built.ok) return built.error
    if (!built.value) return undefined
    ledger = await loadLedgerState(deps.store.read, deps.network.parameters, deps.memory)
    await booker.load()
    const first = committed.commitment.slot
    for (;;) {
      const begun = performance.now()
      const booked = await booker.next(term)
      if (!booked.ok) return booked.error
      const { count, isMore } = booked.value
      if (count > 0) deps.times?.booked(count, performance.now() - begun)
      if (ended.aborted && count === 0) return undefined
      // Read after the booking: a slot that ended meanwhile is committed before blocks of the next one are booked.
      const due = dueSlot(deps)
      if (due > committed.commitment.slot) {
        if (!isRunning) showSlots(committed.commitment.slot - first, due - first)
        const upTo = Math.min(due, committed.commitment.slot + slotsPerCommit)
        const begunCommit = performance.now()
        const range = { term, former: committed, upTo }
        const advanced = await inSpan('commit slots', () => advance(writing, booker, range))
        if (!advanced.ok) return advanced.error
        const slots = upTo - committed.commitment.slot
        deps.times?.committed(slots, performance.now() - begunCommit)
        committed = advanced.value
        continue
      }
      starting = undefined
      const isFirst = !isRunning
      isRunning = true
      if (isFirst) deps.onRunning()
      if (isMore) continue
      // Lets the inbox fill after a booking: a batch asks the database as much as a single block. It waits the longer
      // the more blocks there were, so that a single block is booked at once.
      if (count > 0) await jumped.wait({ ms: gatherMs(deps, count), signal: ended })
      else await accepted.wait({ ms: Math.min(msToNextSlot(deps), tickMs), signal: ended })
    }
  }

  function showBuild(progress: BuildProgress): void {
    const before = starting?.step === 'BUILDING_TRIES' ? percentOf(starting) : -1
    starting = { step: 'BUILDING_TRIES', ...progress }
    if (percentOf(starting) > before) deps.log.info('building-tries', { ...progress })
  }

  function showSlots(done: number, of: number): void {
    starting = { step: 'COMMITTING_SLOTS', done, of }
  }

  function state(): LedgerState {
    assert(ledger !== undefined, 'the writer has loaded the state')
    return ledger
  }

  return {
    wake: accepted.notify,
    lead,
    ledger: () => ledger,
    starting: () => starting,
    isRunning: () => isRunning,
  }
}

/** In steps of ten. */
function percentOf({ done, of }: BuildProgress): number {
  return of === 0 ? 0 : Math.floor((10 * done) / of) * 10
}

/** Closes slots, books what they hold, fails the transactions that still wait in them, and commits them. */
async function advance(
  deps: WriterDeps & SlotsDeps,
  booker: Booker,
  { term, ...range }: { term: number; former: CommittedSlot; upTo: SlotIndex },
): Promise<Result<CommittedSlot, LeaseLost>> {
  const { former, upTo } = range
  const closed = await deps.store.write.closeSlots(term, upTo)
  if (!closed.ok) return closed
  for (let isMore = true; isMore; ) {
    const booked = await booker.next(term)
    if (!booked.ok) return booked
    isMore = booked.value.isMore
  }
  const givenUp = await booker.giveUp(term, upTo)
  if (!givenUp.ok) return givenUp
  const committed = await commitSlots(deps, term, range)
  if (!committed.ok) return committed
  const { slots, tip } = committed.value
  deps.log.debug('slots-committed', { from: former.commitment.slot + 1, upTo, seq: tip.seq })
  if (upTo - former.commitment.slot > 1) {
    deps.log.info('catching-up', { slot: upTo, remaining: Math.max(dueSlot(deps) - upTo, 0) })
  }
  deps.onCommitted(slots, tip.seq)
  return ok(present(slots.at(-1), 'a committed slot'))
}

type Timing = Pick<WriterDeps, 'clock' | 'network'>

function dueSlot({ clock, network: { parameters } }: Timing): SlotIndex {
  return slotOfTime(parameters, clock.nowNs()) - parameters.minCommittableAge
}

function msToNextSlot({ clock, network: { parameters } }: Timing): number {
  const now = clock.nowNs()
  // Counted from the genesis, which need not be a whole number of slots after 1970.
  const end = BigInt(slotEnd(parameters, slotOfTime(parameters, now))) * 1_000_000_000n
  return Number((end - now) / 1_000_000n) + 1
}

function gatherMs(deps: Timing, booked: number): number {
  return Math.min(booked * gatherMsPerBlock, gatherLimitMs, msToNextSlot(deps))
}

/** The longest pause: another process may fill the inbox, and its notification may be lost. */
const tickMs = 250

/** From 100 blocks a second on each batch is larger than the one before, up to the limit. */
const gatherMsPerBlock = 10
const gatherLimitMs = 150
