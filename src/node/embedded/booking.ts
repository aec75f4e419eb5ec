import { failureReasonNumbers } from '../../ledger/failure-reasons.ts'
import { inputIds } from '../../ledger/resolve.ts'
import { assert } from '../../lib/assert.ts'
import type { Log } from '../../lib/log.ts'
import { ok, type Result } from '../../lib/result.ts'
import { BlockIssuanceCreditInput } from '../../protocol/inputs.ts'
import { is } from '../../protocol/is.ts'
import type { Network } from '../../protocol/network.ts'
import { Output } from '../../protocol/outputs.ts'
import type { AccountId, BlockId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import { decode } from '../../protocol/schema/schema.ts'
import type { BookedTransaction, Store } from '../../store/contract.ts'
import type { LeaseLost } from '../../store/lease-contract.ts'
import type { OutputRow } from '../../store/rows.ts'
import type { OverdueCarrier, WaitingChanges } from '../../store/waiting-contract.ts'
import type { PreparedTransaction } from '../prepared-transaction.ts'
import type { RecentCommitments } from '../recent-commitments.ts'
import type { SignatureChecker } from '../signatures.ts'
import type { Candidate } from './agenda.ts'
import { candidatesOf, openCarriers, storedWaiters } from './carriers.ts'
import { type BookedOutput, type Effects, judge, type LedgerBefore, noWaiters } from './judge.ts'
import type { LedgerState } from './state.ts'

/**
 * Books the inbox in order of arrival: what its transactions change is written in one go a batch. A block whose transaction
 * spends what does not exist yet is booked all the same, and its issuer pays for it; the transaction waits in the database
 * until that exists, or until the slot of the block is about to be committed. So a flood of transactions that wait costs
 * as much as one of others, lasts as long as a slot is open, and takes no memory.
 */

/** What booking needs. */
export interface BookingDeps {
  readonly store: Store
  readonly network: Network
  readonly signatures: Pick<SignatureChecker, 'check'>
  readonly log: Log
  /** Transactions prepared when their block came in; booking takes them out. Others are prepared again. */
  readonly prepared: Map<BlockId, PreparedTransaction>
  /** Up to the newest of them spends are final. */
  readonly commitments: Pick<RecentCommitments, 'has' | 'newest'>
  readonly state: () => LedgerState
}

/** Books for the one writer; its calls never overlap. */
export interface Booker {
  /** Reads how many transactions wait, at the beginning of every term. */
  load(): Promise<void>
  /** Books the next blocks in one transaction of the database: released carriers first, else blocks of the inbox. */
  next(term: number): Promise<Result<Booked, LeaseLost>>
  /** Fails the transactions that wait in the slots up to `upTo`, which are closed and booked: their inputs cannot come. */
  giveUp(term: number, upTo: SlotIndex): Promise<Result<number, LeaseLost>>
}

/** The result of one booking. */
export interface Booked {
  readonly count: number
  /** More can be booked at once. */
  readonly isMore: boolean
}

/** The most blocks of one booking. */
const bookingBatch = 500

/** Blocks whose transactions are given up in one transaction of the database. */
const giveUpBatch = 5_000

/** Creates a booker. */
export function createBooker(deps: BookingDeps): Booker {
  const { store, prepared, log } = deps
  const { write } = store
  const carriersDeps = { write, signatures: deps.signatures, prepared }
  /** The number of carriers that wait. While it is 0, booking reads nothing about them. */
  let waiting = 0

  async function load(): Promise<void> {
    waiting = await write.countWaiting()
  }

  async function next(term: number): Promise<Result<Booked, LeaseLost>> {
    const released = waiting === 0 ? [] : await write.releasedCarriers(bookingBatch)
    const fresh = released.length > 0 ? [] : await write.pendingBlocks(bookingBatch)
    if (released.length + fresh.length === 0) return ok({ count: 0, isMore: false })
    const open = await openCarriers(carriersDeps, [...released, ...fresh])
    const candidates = await candidatesOf(carriersDeps, open)
    const stored = waiting === 0 ? noWaiters : await storedWaiters(carriersDeps, candidates)
    const waiters = stored.waiters.map(({ candidate }) => candidate)
    const before = await ledgerBefore(deps, [...candidates, ...waiters])
    const effects = judge(before, candidates, stored)
    const { isCut, judged } = effects
    const lastHad = isCut ? fresh.findLastIndex(({ inbox }) => judged.has(inbox)) : fresh.length
    const had = fresh.slice(0, lastHad + 1)
    const over = noLongerWaiting({ released, waiters, open, judged })
    const { transactions, created, spent } = effects
    const blocks = had.map(({ blockId }) => ({ blockId, state: 'ACCEPTED' }) as const)
    const waits = waiting + effects.waiting.length > 0 && { waiting: waitingChanges(effects, over) }
    const written = await write.book(term, { blocks, transactions, created, spent, ...waits })
    if (!written.ok) return written
    waiting += effects.waiting.length - over.length
    for (const { blockId } of [...had, ...over]) prepared.delete(blockId)
    logFailures(deps, effects)
    const isMore = isCut || released.length > 0 || fresh.length === bookingBatch
    return ok({ count: had.length + over.length, isMore })
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

/** The waiting carriers that the booking settles. */
function noLongerWaiting({
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
  // A released carrier that is not open waits in vain: another carrier brought its transaction the verdict.
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
  over: readonly { readonly inbox: number }[],
): WaitingChanges {
  const booked = transactions.filter(({ state }) => state === 'ACCEPTED')
  return {
    booked: booked.map(({ transactionId }) => transactionId),
    over: over.map(({ inbox }) => inbox),
    begun: waiting,
  }
}

/** One verdict a transaction, by the last of its carriers. */
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

/** The ledger, with every output that the candidates spend and that exists, in one query. */
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

/** The accounts of which the transaction claims credits. */
function creditAccounts({ payload }: PreparedTransaction): AccountId[] {
  return payload.transaction.contextInputs.flatMap((input) =>
    is(BlockIssuanceCreditInput, input) ? [input.accountId] : [],
  )
}

function bookedOutput(row: OutputRow, committedSlot: SlotIndex): BookedOutput {
  const output = decode(Output, row.bytes)
  assert(output.ok, 'a stored output decodes')
  const { bookedSlot, spentSlot } = row
  const spentIn =
    spentSlot === undefined ? undefined : spentSlot <= committedSlot ? 'COMMITTED' : 'ACCEPTED'
  return { output: output.value, bookedSlot, spentIn }
}
