import type { SlotIndex, TransactionId } from '../protocol/primitives.ts'
import type { BlockRow } from './rows.ts'

/** Blocks that are booked while their transactions wait for outputs to spend: their reads and writes. */

/** Reads, as of all former writes. */
export interface WaitingReads {
  /** The blocks of the inbox that are not booked yet, in inbox order. */
  pendingBlocks(limit: number): Promise<PendingBlock[]>
  /** How many blocks wait. */
  countWaiting(): Promise<number>
  /** Those that wait for nothing any more and are to be judged, in inbox order. */
  releasedCarriers(limit: number): Promise<BlockRow[]>
  /** How many of them wait for each of some transactions; nothing of those that none waits for. */
  awaitedCounts(
    transactionIds: readonly TransactionId[],
  ): Promise<ReadonlyMap<TransactionId, number>>
  /** Those that wait for some transactions, in inbox order. */
  carriersAwaiting(transactionIds: readonly TransactionId[]): Promise<AwaitingCarrier[]>
  /** Those of the slots up to `upTo`, in inbox order. */
  waitingCarriers(upTo: SlotIndex, limit: number): Promise<OverdueCarrier[]>
}

/** What booking needs of a block of the inbox; the bytes of one without a transaction are left out. */
export type PendingBlock = Pick<BlockRow, 'blockId' | 'inbox' | 'slot' | 'transactionId' | 'bytes'>

/** A block that waits for some of the transactions that are given. */
export interface AwaitingCarrier {
  readonly block: BlockRow
  /** Those among them. */
  readonly awaits: readonly TransactionId[]
  /** How many it waits for in all. */
  readonly missing: number
}

/** A block whose transaction has waited as long as it may. */
export interface OverdueCarrier extends Pick<BlockRow, 'inbox' | 'blockId' | 'slot'> {
  readonly transactionId: TransactionId
}

/** What a booking changes of those that wait, in this order. */
export interface WaitingChanges {
  /** Transactions that are booked now: no block waits for them any more. */
  readonly booked: readonly TransactionId[]
  /** Places in the inbox of blocks that wait no longer. */
  readonly over: readonly number[]
  /** Blocks that wait from now on. */
  readonly begun: readonly WaitingCarrier[]
}

/** A block that waits. */
export interface WaitingCarrier extends Pick<BlockRow, 'inbox' | 'slot'> {
  /** The transactions it waits for; where there are none, it is to be judged. */
  readonly awaits: readonly TransactionId[]
}
