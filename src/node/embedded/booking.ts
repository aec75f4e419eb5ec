import { failureReasonNumbers } from '../../ledger/failure-reasons.ts'
import { inputIds } from '../../ledger/resolve.ts'
import type { Log } from '../../lib/log.ts'
import { ok, type Result } from '../../lib/result.ts'
import { BlockIssuanceCreditInput } from '../../protocol/inputs.ts'
import { is } from '../../protocol/is.ts'
import type { Network } from '../../protocol/network.ts'
import { Output } from '../../protocol/outputs.ts'
import type { AccountId, BlockId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import { decodeStored } from '../../protocol/stored.ts'
import type { LeaseLost } from '../../store/contract/lease.ts'
import type { OverdueCarrier, WaitingChanges } from '../../store/contract/waiting.ts'
import type { BookedTransaction, Store } from '../../store/contract.ts'
import type { OutputRow } from '../../store/rows.ts'
import type { PreparedTransaction } from '../prepared-transaction.ts'
import type { RecentCommitments } from '../recent-commitments.ts'
import type { SignatureChecker } from '../signatures.ts'
import type { Candidate } from './carrier-queue.ts'
import { candidatesOf, openCarriers, storedWaiters } from './carriers.ts'
import { type BookedOutput, type Effects, judge, type LedgerBefore, noWaiters } from './judge.ts'
import type { LedgerState } from './state.ts'

/**
 * Books the inbox in order of arrival, one database transaction per batch. A block whose transaction spends an output that
 * does not exist yet is booked too, and its issuer pays for it. The transaction waits in the database until the output exists,
 * or until the slot of the block is about to be committed. A flood of waiting transactions therefore costs its issuer as much
 * as a flood of other transactions, lasts only while a slot is open, and uses no memory.
 */

export interface BookingDeps {
  readonly store: Store
  readonly network: Network
  readonly signatures: Pick<SignatureChecker, 'check'>
  readonly log: Log
  /** Transactions prepared on receipt of their block. Booking removes them from the map, and prepares missing ones again. */
  readonly prepared: Map<BlockId, PreparedTransaction>
  /** Spends are final up to the newest commitment. */
  readonly commitments: Pick<RecentCommitments, 'has' | 'newest'>
  readonly state: () => LedgerState
}

/** Books blocks for the single writer. Its calls never overlap. */
export interface Booker {
  /** Reads the number of waiting transactions; called at the beginning of every term. */
  load(): Promise<void>
  /**
   * Books the next blocks in one database transaction: released carriers if there are any, otherwise blocks of the inbox. `before` is the
   * position of the inbox up to which the caller needs them.
   */
  next(term: number, before?: number): Promise<Result<Booked, LeaseLost>>
  /** Fails the transactions that wait in the slots up to `upTo`. These slots are closed and booked: the missing inputs cannot exist. */
  giveUp(term: number, upTo: SlotIndex): Promise<Result<number, LeaseLost>>
}

export interface Booked {
  /** Number of booked blocks. */
  readonly count: number
  /** Whether more of the needed blocks can be booked immediately. */
  readonly isMore: boolean
}

/** Maximum number of blocks in one booking. */
const bookingBatch = 500

/** Maximum number of waiting carriers that one database transaction fails. */
const giveUpBatch = 5_000

export function createBooker(deps: BookingDeps): Booker {
  const { store, prepared, log } = deps
  const { write } = store
  const carriersDeps = { write, signatures: deps.signatures, prepared }
  /** Number of waiting carriers. While it is 0, booking skips the reads of waiting carriers. */
  let waiting = 0

  async function load(): Promise<void> {
    waiting = await write.countWaiting()
  }

  async function next(term: number, before = Infinity): Promise<Result<Booked, LeaseLost>> {
    const released = waiting === 0 ? [] : await write.releasedCarriers(bookingBatch)
    const fresh = released.length > 0 ? [] : await write.pendingBlocks(bookingBatch)
    if (released.length + fresh.length === 0) return ok({ count: 0, isMore: false })
    const open = await openCarriers(carriersDeps, [...released, ...fresh])
    const candidates = await candidatesOf(carriersDeps, open)
    const stored = waiting === 0 ? noWaiters : await storedWaiters(carriersDeps, candidates)
    const waiters = stored.waiters.map(({ candidate }) => candidate)
    const ledger = await ledgerBefore(deps, [...candidates, ...waiters])
    const effects = judge(ledger, candidates, stored)
    const { isCut, judged } = effects
    const last = isCut ? fresh.findLastIndex(({ inbox }) => judged.has(inbox)) : fresh.length
    const booked = fresh.slice(0, last + 1)
    const settled = settledWaiters({ released, waiters, open, judged })
    const { transactions, created, spent } = effects
    const blocks = booked.map(({ blockId }) => ({ blockId, state: 'ACCEPTED' }) as const)
    const hasWaiters = waiting + effects.waiting.length > 0
    const waits = hasWaiters && { waiting: waitingChanges(effects, settled) }
    const written = await write.book(term, { blocks, transactions, created, spent, ...waits })
    if (!written.ok) return written
    waiting += effects.waiting.length - settled.length
    for (const { blockId } of [...booked, ...settled]) prepared.delete(blockId)
    logFailures(deps, effects)
    const isFull = fresh.length === bookingBatch && (fresh.at(-1)?.inbox ?? 0) + 1 < before
    const isMore = isCut || released.length > 0 || isFull
    return ok({ count: booked.length + settled.length, isMore })
  }

  async function giveUp(term: number, upTo: SlotIndex): Promise<Result<number, LeaseLost>> {
    let count = 0
    while (waiting > 0) {
      const overdue = await write.waitingCarriers(upTo, giveUpBatch)
      if (overdue.length === 0) break
      const open = await openCarriers(carriersDeps, overdue)
      const over = overdue.map(({ inbox }) => inbox)
      const written = await write.book(term, {
        ...nothingBooked,
        transactions: orphaned(open),
        waiting: { booked: [], over, begun: [] },
      })
      if (!written.ok) return written
      waiting -= overdue.length
      count += overdue.length
    }
    if (count > 0) log.info('transactions-orphaned', { slot: upTo, carriers: count })
    return ok(count)
  }

  return { load, next, giveUp }
}

/** The carriers that no longer wait after the booking. */
function settledWaiters({
  released,
  waiters,
  open,
  judged,
}: {
  readonly released: readonly InInbox[]
  readonly waiters: readonly InInbox[]
  readonly open: readonly InInbox[]
  readonly judged: { has(inbox: number): boolean }
}): InInbox[] {
  const releasedIds = new Set(released.map(({ inbox }) => inbox))
  const openIds = new Set(open.map(({ inbox }) => inbox))
  // A released carrier that is not open need not wait: another carrier settled the verdict of its transaction.
  return [...released, ...waiters].filter(
    ({ inbox }) => judged.has(inbox) || (releasedIds.has(inbox) && !openIds.has(inbox)),
  )
}

interface InInbox {
  readonly inbox: number
  readonly blockId: BlockId
}

const nothingBooked = { blocks: [], created: [], spent: [] }

function logFailures({ log }: BookingDeps, { failures }: Effects): void {
  for (const { candidate, error } of failures) {
    const { transactionId } = candidate.prepared.identity
    log.info('transaction-failed', { transactionId, ...error })
  }
}

function waitingChanges(
  { transactions, waiting }: Effects,
  settled: readonly { readonly inbox: number }[],
): WaitingChanges {
  const booked = transactions.filter(({ state }) => state === 'ACCEPTED')
  return {
    booked: booked.map(({ transactionId }) => transactionId),
    over: settled.map(({ inbox }) => inbox),
    begun: waiting,
  }
}

/** One verdict per transaction; it names the last of its carriers. */
function orphaned(carriers: readonly OverdueCarrier[]): BookedTransaction[] {
  const verdicts = new Map<TransactionId, BookedTransaction>()
  for (const { transactionId, blockId, slot } of carriers) {
    verdicts.set(transactionId, {
      transactionId,
      blockId,
      slot,
      state: 'FAILED',
      failureReason: failureReasonNumbers.ORPHANED,
      allotments: [],
      judgedCarriers: (verdicts.get(transactionId)?.judgedCarriers ?? 0) + 1,
    })
  }
  return [...verdicts.values()]
}

/** The ledger with every existing output that the candidates spend, read in one query. */
async function ledgerBefore(
  { store, network, commitments, ...deps }: BookingDeps,
  candidates: readonly Candidate[],
): Promise<LedgerBefore> {
  const state = deps.state()
  const ids = new Set(candidates.flatMap(({ prepared }) => inputIds(prepared.payload.transaction)))
  const rows = ids.size === 0 ? [] : await store.write.outputsForBooking([...ids])
  const { slot: committedSlot } = commitments.newest().commitment
  const entryAt = await state.accounts(
    candidates.flatMap(({ prepared }) => creditAccounts(prepared)),
  )
  return {
    parameters: network.parameters,
    isCommitmentKnown: commitments.has,
    creditsAt: (id, slot) => entryAt(id, slot)?.credits,
    rewardAt: state.rewardAt,
    outputById: new Map(rows.map((row) => [row.outputId, bookedOutput(row, committedSlot)])),
  }
}

/** The accounts whose credits the transaction claims. */
function creditAccounts({ payload }: PreparedTransaction): AccountId[] {
  return payload.transaction.contextInputs.flatMap((input) =>
    is(BlockIssuanceCreditInput, input) ? [input.accountId] : [],
  )
}

function bookedOutput(row: OutputRow, committedSlot: SlotIndex): BookedOutput {
  const { bookedSlot, spentSlot } = row
  const spentIn =
    spentSlot === undefined ? undefined : spentSlot <= committedSlot ? 'COMMITTED' : 'ACCEPTED'
  return { output: decodeStored(Output, row.bytes), bookedSlot, spentIn }
}
