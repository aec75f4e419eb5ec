import type { BlockId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import type { WaitingCarrier } from '../../store/waiting-contract.ts'
import type { PreparedTransaction } from '../prepared-transaction.ts'

/**
 * The order in which carriers are judged: the next is always the earliest in the inbox of those whose inputs are all
 * there. A carrier that waited is so judged right after the one that brought its last input, and before all that came
 * later; it does not matter where a batch ends.
 */
export interface Agenda {
  /** The next one; `undefined` when all that are left wait. */
  next(): Candidate | undefined
  /** Lays one aside that was given last, until all of these transactions are booked. */
  wait(candidate: Candidate, awaits: readonly TransactionId[]): void
  /** A transaction is booked: carriers that waited for it alone are next. */
  booked(transactionId: TransactionId): void
  /** Those that were laid aside here and were not given again, with what they wait for still. */
  waiting(): WaitingCarrier[]
}

/** A transaction and the block that brought it. */
export interface Candidate {
  readonly blockId: BlockId
  /** The position of the block in the inbox. */
  readonly inbox: number
  readonly slot: SlotIndex
  readonly prepared: PreparedTransaction
}

/** A carrier that waits since a former batch, and for how many transactions; those that matter here are named. */
export interface StoredWaiter {
  readonly candidate: Candidate
  readonly awaits: readonly TransactionId[]
  readonly missing: number
}

interface Waiter {
  readonly candidate: Candidate
  readonly awaits: Set<TransactionId>
  missing: number
  readonly isNew: boolean
}

/** An agenda of carriers in inbox order, and of those that wait. */
export function createAgenda(
  candidates: readonly Candidate[],
  stored: readonly StoredWaiter[],
): Agenda {
  /** In inbox order; those before `at` were given. */
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
