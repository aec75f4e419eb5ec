import type { CommittedSlot } from '../../ledger/commit-slot.ts'
import { assert, present } from '../../lib/assert.ts'
import type { Clock } from '../../lib/clock.ts'
import { ok, type Result } from '../../lib/result.ts'
import { createSignal, type Signal } from '../../lib/signal.ts'
import { inSpan } from '../../lib/tracing.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { slotEndNs, slotOfTime } from '../../protocol/slots.ts'
import type { LeaseLost } from '../../store/contract/lease.ts'
import type { Commitments } from '../commitments.ts'
import type { LeaderTerm } from '../leader-election.ts'
import type { WriterTimes } from '../node-core.ts'
import type { StartupStep } from '../source.ts'
import { type Booker, type BookingDeps, createBooker } from './booking.ts'
import { type BuildProgress, buildTries } from './build-tries.ts'
import { commitSlots, type SlotsDeps, slotsPerCommit } from './slots.ts'
import { type LedgerState, loadLedgerState, type StateMemory } from './state.ts'

/** The single writer of a ledger: books the inbox as it fills, and commits slots when they are due. */

/** Dependencies of the writer, in addition to the dependencies of booking and committing. */
export interface WriterDeps extends Omit<BookingDeps & SlotsDeps, 'state'> {
  readonly clock: Clock
  readonly commitments: Pick<Commitments, 'reload' | 'has' | 'newest'>
  /** Called after every commit with its slots, oldest first, and the newest position of the log. */
  onCommitted(slots: readonly CommittedSlot[], seq: number): void
  /** Called once per term, when every due slot is committed. */
  onRunning(): void
  readonly memory: StateMemory
  readonly times?: WriterTimes | undefined
}

/** Writes while the process holds the lease. */
export interface LedgerWriter {
  /** Ends the pause before the next booking: the inbox has new blocks. */
  wake(): void
  /**
   * Books and commits under a term. When this process ends the term itself, all acknowledged blocks are booked first. Due
   * slots, which may span a month, are left to the next leader.
   */
  lead(leaderTerm: LeaderTerm): Promise<LeaseLost | undefined>
  /** The state of the ledger; `undefined` outside a term. */
  ledger(): LedgerState | undefined
  /** The start-up step of the term; `undefined` outside a term, and when the writer runs. */
  starting(): StartupStep | undefined
  /** Whether every slot that was due when the term began is committed. */
  isRunning(): boolean
}

/** Creates the writer of a process. */
export function createWriter(deps: WriterDeps): LedgerWriter {
  const { clock, prepared } = deps
  const progress: TermProgress = { ...outsideTerm }
  const accepted = createSignal()
  const jumped = createSignal()
  const committing = { ...deps, state }
  const booker = createBooker(committing)
  const writing: Writing = { deps: committing, booker, progress, accepted, jumped }
  clock.onJump?.(() => {
    accepted.notify()
    jumped.notify()
  })

  async function lead(leaderTerm: LeaderTerm): Promise<LeaseLost | undefined> {
    try {
      return await write(writing, leaderTerm)
    } finally {
      // The next leader prepares the transactions of the blocks that this process accepted.
      prepared.clear()
      Object.assign(progress, outsideTerm)
    }
  }

  function state(): LedgerState {
    assert(progress.ledger !== undefined, 'the writer has loaded the state')
    return progress.ledger
  }

  return {
    wake: accepted.notify,
    lead,
    ledger: () => progress.ledger,
    starting: () => progress.starting,
    isRunning: () => progress.isRunning,
  }
}

/** How far the writer is in its term. */
interface TermProgress {
  ledger: LedgerState | undefined
  starting: StartupStep | undefined
  isRunning: boolean
  /** Time of the last line about catching up, by `performance.now()`. */
  loggedAt: number
}

const outsideTerm: Readonly<TermProgress> = {
  ledger: undefined,
  starting: undefined,
  isRunning: false,
  loggedAt: Number.NEGATIVE_INFINITY,
}

interface Writing {
  readonly deps: WriterDeps & SlotsDeps
  readonly booker: Booker
  readonly progress: TermProgress
  /** Notified when the inbox has new blocks. */
  readonly accepted: Signal
  /** Notified when the clock jumps. */
  readonly jumped: Signal
}

/** Books and commits until the term ends. */
async function write(writing: Writing, leaderTerm: LeaderTerm): Promise<LeaseLost | undefined> {
  const { deps, booker, progress, accepted, jumped } = writing
  const { term, ended } = leaderTerm
  const loaded = await load(writing, leaderTerm)
  if (!loaded.ok) return loaded.error
  if (loaded.value === undefined) return undefined
  let committed = loaded.value
  const first = committed.commitment.slot
  let before = Number.POSITIVE_INFINITY
  for (;;) {
    const begun = performance.now()
    // Every block that this process acknowledged is in the inbox when the term ends.
    const isLast = ended.aborted
    const booked = await booker.next(term, before)
    if (!booked.ok) return booked.error
    const { count, isMore } = booked.value
    if (count > 0) deps.times?.booked(count, performance.now() - begun)
    if (isLast && !isMore) return undefined
    if (isLast && before === Number.POSITIVE_INFINITY) {
      // Other processes may fill the inbox faster than it is booked. The slots up to the committed one are closed already.
      const closed = await deps.store.write.closeSlots(term, committed.commitment.slot)
      if (!closed.ok) return closed.error
      before = closed.value.nextInbox
    }
    // Read after the booking: a slot that ended meanwhile is committed before blocks of the next one are booked.
    const due = dueSlot(deps)
    const { slot } = committed.commitment
    if (due > slot) {
      const range = { term, former: committed, upTo: Math.min(due, slot + slotsPerCommit) }
      if (!progress.isRunning) {
        progress.starting = { step: 'COMMITTING_SLOTS', done: slot - first, of: due - first }
      }
      const advanced = await timedAdvance(deps, booker, range)
      if (!advanced.ok) return advanced.error
      if (range.upTo - slot > 1) showCatchUp(writing, range.upTo)
      committed = advanced.value
      continue
    }
    progress.starting = undefined
    const isFirst = !progress.isRunning
    progress.isRunning = true
    if (isFirst) deps.onRunning()
    if (isMore) continue
    // Lets the inbox fill after a booking: a batch costs the database as much as a single block. The pause grows with
    // the number of booked blocks, so that a single block is booked at once.
    if (count > 0) await jumped.wait({ ms: gatherMs(deps, count), signal: ended })
    else await accepted.wait({ ms: Math.min(msToNextSlot(deps), tickMs), signal: ended })
  }
}

/** Loads the ledger; returns the newest committed slot, or `undefined` when the term ended before the tries were built. */
async function load(
  { deps, booker, progress }: Writing,
  { term, ended }: LeaderTerm,
): Promise<Result<CommittedSlot | undefined, LeaseLost>> {
  progress.starting = { step: 'READING_LEDGER', done: 0, of: 0 }
  const committed = await deps.commitments.reload()
  const onProgress = (built: BuildProgress) => showBuild(deps, progress, built)
  const built = await buildTries({ store: deps.store, term, ended, onProgress })
  if (!built.ok) return built
  if (!built.value) return ok(undefined)
  progress.ledger = await loadLedgerState(deps.store.read, deps.network.parameters, deps.memory)
  await booker.load()
  return ok(committed)
}

function showBuild({ log }: WriterDeps, progress: TermProgress, built: BuildProgress): void {
  const { starting } = progress
  const before = starting?.step === 'BUILDING_TRIES' ? percentOf(starting) : -1
  progress.starting = { step: 'BUILDING_TRIES', ...built }
  if (percentOf(built) > before) log.info('building-tries', { ...built })
}

/** Logs the progress, at most once every `progressMs`. */
function showCatchUp({ deps, progress }: Writing, slot: SlotIndex): void {
  if (performance.now() < progress.loggedAt + progressMs) return
  progress.loggedAt = performance.now()
  deps.log.info('catching-up', { slot, remaining: Math.max(dueSlot(deps) - slot, 0) })
}

/** The percentage, rounded down to a multiple of ten. */
function percentOf({ done, of }: BuildProgress): number {
  return of === 0 ? 0 : Math.floor((10 * done) / of) * 10
}

interface AdvanceRange {
  readonly term: number
  readonly former: CommittedSlot
  readonly upTo: SlotIndex
}

async function timedAdvance(
  deps: WriterDeps & SlotsDeps,
  booker: Booker,
  range: AdvanceRange,
): Promise<Result<CommittedSlot, LeaseLost>> {
  const begun = performance.now()
  const advanced = await inSpan('commit slots', () => advance(deps, booker, range))
  const slots = range.upTo - range.former.commitment.slot
  if (advanced.ok) deps.times?.committed(slots, performance.now() - begun)
  return advanced
}

/** Closes slots, books their blocks, fails the transactions that still wait in them, and commits them. */
async function advance(
  deps: WriterDeps & SlotsDeps,
  booker: Booker,
  { term, ...range }: AdvanceRange,
): Promise<Result<CommittedSlot, LeaseLost>> {
  const { former, upTo } = range
  const closed = await deps.store.write.closeSlots(term, upTo)
  if (!closed.ok) return closed
  // Blocks of open slots may arrive faster than they are booked, and the commit does not wait for them.
  for (let isMore = true; isMore; ) {
    const booked = await booker.next(term, closed.value.nextInbox)
    if (!booked.ok) return booked
    isMore = booked.value.isMore
  }
  const givenUp = await booker.giveUp(term, upTo)
  if (!givenUp.ok) return givenUp
  const committed = await commitSlots(deps, term, range)
  if (!committed.ok) return committed
  const { slots, tip } = committed.value
  deps.log.debug('slots-committed', { from: former.commitment.slot + 1, upTo, seq: tip.seq })
  deps.onCommitted(slots, tip.seq)
  return ok(present(slots.at(-1), 'a committed slot'))
}

type Timing = Pick<WriterDeps, 'clock' | 'network'>

function dueSlot({ clock, network: { parameters } }: Timing): SlotIndex {
  return slotOfTime(parameters, clock.nowNs()) - parameters.minCommittableAge
}

function msToNextSlot({ clock, network: { parameters } }: Timing): number {
  const now = clock.nowNs()
  // Slots are counted from the genesis, which need not be a whole number of slots after 1970.
  const end = slotEndNs(parameters, slotOfTime(parameters, now))
  return Number((end - now) / 1_000_000n) + 1
}

function gatherMs(deps: Timing, booked: number): number {
  return Math.min(booked * gatherMsPerBlock, gatherLimitMs, msToNextSlot(deps))
}

/** Longest pause in milliseconds: another process may fill the inbox, and its notification may be lost. */
const tickMs = 250

/** Milliseconds between two log lines while many slots remain. */
const progressMs = 5_000

/** From 100 blocks per second on, each batch is larger than the previous one, up to the limit. */
const gatherMsPerBlock = 10
const gatherLimitMs = 150
