import type { SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import type { BlockRow } from '../rows.ts'

/** Reads and writes of booked blocks whose transactions wait for outputs to spend. */

/** Reads of waiting blocks, after all earlier writes. */
export interface WaitingReads {
  /** The blocks of the inbox that are not booked yet, in inbox order. */
  pendingBlocks(limit: number): Promise<PendingBlock[]>
  countWaiting(): Promise<number>
  /** The blocks that no longer wait for any transaction and have to be judged, in inbox order. */
  releasedCarriers(limit: number): Promise<BlockRow[]>
  /** Number of blocks that wait for each of some transactions. Transactions for which no block waits are omitted. */
  awaitedCounts(
    transactionIds: readonly TransactionId[],
  ): Promise<ReadonlyMap<TransactionId, number>>
  /** The blocks that wait for some transactions, in inbox order. */
  carriersAwaiting(transactionIds: readonly TransactionId[]): Promise<AwaitingCarrier[]>
  /** The waiting blocks of the slots up to `upTo`, in inbox order. */
  waitingCarriers(upTo: SlotIndex, limit: number): Promise<OverdueCarrier[]>
}

/** The columns of an inbox block that booking needs. `bytes` is empty for a block without a transaction. */
export type PendingBlock = Pick<BlockRow, 'blockId' | 'inbox' | 'slot' | 'transactionId' | 'bytes'>

/** A block that waits for some of the given transactions. */
export interface AwaitingCarrier {
  readonly block: BlockRow
  /** The given transactions that it waits for. */
  readonly awaits: readonly TransactionId[]
  /** Number of all transactions that it waits for. */
  readonly missing: number
}

/** A block whose transaction has waited for the maximum time. */
export interface OverdueCarrier extends Pick<BlockRow, 'inbox' | 'blockId' | 'slot'> {
  readonly transactionId: TransactionId
}

/** The changes of waiting blocks by a booking, in the order in which they are applied. */
export interface WaitingChanges {
  /** Newly booked transactions. No block waits for them any longer. */
  readonly booked: readonly TransactionId[]
  /** Inbox positions of blocks that no longer wait. */
  readonly over: readonly number[]
  /** Blocks that begin to wait. */
  readonly begun: readonly WaitingCarrier[]
}

export interface WaitingCarrier extends Pick<BlockRow, 'inbox' | 'slot'> {
  /** The transactions that it waits for. If there are none, the block has to be judged. */
  readonly awaits: readonly TransactionId[]
}
