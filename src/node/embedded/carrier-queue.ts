import type { BlockId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import type { WaitingCarrier } from '../../store/contract/waiting.ts'
import type { PreparedTransaction } from '../prepared-transaction.ts'

/**
 * The order in which carriers are judged: the next carrier is always the earliest one in the inbox whose inputs all exist.
 * A waiting carrier is therefore judged right after the carrier that creates its last input, and before all later carriers,
 * wherever a batch ends.
 */
export interface CarrierQueue {
  /** The next carrier; `undefined` when all remaining carriers wait. */
  next(): Candidate | undefined
  /** Defers the carrier that `next` returned last until all of these transactions are booked. */
  wait(candidate: Candidate, awaits: readonly TransactionId[]): void
  /** Records that a transaction is booked, and queues the carriers that waited only for it. */
  booked(transactionId: TransactionId): void
  /** The carriers that were deferred here and still wait, with the transactions that they wait for. */
  waiting(): WaitingCarrier[]
}

/** A transaction and the block that carries it. */
export interface Candidate {
  readonly blockId: BlockId
  /** The position of the block in the inbox. */
  readonly inbox: number
  readonly slot: SlotIndex
  readonly prepared: PreparedTransaction
}

/** A carrier that has waited since an earlier batch. */
export interface StoredWaiter {
  readonly candidate: Candidate
  /** The awaited transactions that this batch may book. */
  readonly awaits: readonly TransactionId[]
  /** Number of all awaited transactions. */
  readonly missing: number
}

interface Waiter {
  readonly candidate: Candidate
  readonly awaits: Set<TransactionId>
  missing: number
  readonly isNew: boolean
}

/** Creates a queue of new carriers in inbox order, and of stored waiting carriers. */
export function createCarrierQueue(
  candidates: readonly Candidate[],
  stored: readonly StoredWaiter[],
): CarrierQueue {
  /** In inbox order; `next` has returned the candidates before `at`. */
  const queue = [...candidates]
  let at = 0
  /** By position in the inbox. */
  const waiters = new Map<number, Waiter>()
  const waitersFor = new Map<TransactionId, Waiter[]>()
  for (const { candidate, awaits, missing } of stored) {
    add({ candidate, awaits: new Set(awaits), missing, isNew: false })
  }

  function add(waiter: Waiter): void {
    waiters.set(waiter.candidate.inbox, waiter)
    for (const id of waiter.awaits) waitersFor.set(id, [...(waitersFor.get(id) ?? []), waiter])
  }

  function next(): Candidate | undefined {
    const candidate = queue[at]
    if (candidate === undefined) return undefined
    at += 1
    waiters.delete(candidate.inbox)
    return candidate
  }

  function wait(candidate: Candidate, awaits: readonly TransactionId[]): void {
    add({ candidate, awaits: new Set(awaits), missing: awaits.length, isNew: true })
  }

  function booked(transactionId: TransactionId): void {
    for (const waiter of waitersFor.get(transactionId) ?? []) {
      waiter.awaits.delete(transactionId)
      waiter.missing -= 1
      if (waiter.missing === 0) enqueue(waiter.candidate)
    }
    waitersFor.delete(transactionId)
  }

  function enqueue(candidate: Candidate): void {
    const later = queue.findIndex(({ inbox }, i) => i >= at && inbox > candidate.inbox)
    queue.splice(later === -1 ? queue.length : later, 0, candidate)
  }

  function waiting(): WaitingCarrier[] {
    return [...waiters.values()].flatMap(({ candidate: { inbox, slot }, awaits, isNew }) =>
      isNew ? [{ inbox, slot, awaits: [...awaits] }] : [],
    )
  }

  return { next, wait, booked, waiting }
}
