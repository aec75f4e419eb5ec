import type { Prisma } from '../../generated/prisma/client.ts'
import type { SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import type { WaitingCarrier } from '../waiting-contract.ts'

/** The bulk statements of transactions that wait, which each database says in its own words. */
export interface WaitingStatements {
  /** Nobody waits for these transactions any more. */
  releaseCarriers(tx: Tx, transactionIds: readonly TransactionId[]): Promise<void>
  /** Removes blocks that wait, by their places in the inbox. */
  deleteWaiting(tx: Tx, places: readonly number[]): Promise<void>
  /** Adds blocks that wait, all of them new. */
  insertWaiting(tx: Tx, carriers: readonly WaitingCarrier[]): Promise<void>
  /** Adds for whom they wait. */
  insertAwaited(tx: Tx, awaited: readonly Awaited[]): Promise<void>
  /** How many wait for each of some transactions. */
  countAwaited(tx: Tx, transactionIds: readonly TransactionId[]): Promise<AwaitedCount[]>
  /** Who waits for some transactions, in no order. */
  awaitedBy(tx: Tx, transactionIds: readonly TransactionId[]): Promise<AwaitedRow[]>
  /** The blocks that wait in the slots up to `upTo`, in inbox order. */
  waitingUpTo(tx: Tx, upTo: SlotIndex, limit: number): Promise<OverdueRow[]>
}

type Tx = Prisma.TransactionClient

/** A transaction, and the place in the inbox of a block that waits for it. */
export interface Awaited {
  readonly transactionId: TransactionId
  readonly inbox: number
}

/** A transaction, and how many blocks wait for it. */
export interface AwaitedCount {
  readonly transactionId: Uint8Array<ArrayBuffer>
  readonly count: bigint
}

/** The same as the database has it, with how many transactions the block waits for in all. */
export interface AwaitedRow {
  readonly transactionId: Uint8Array<ArrayBuffer>
  readonly inbox: bigint
  readonly missing: number | bigint
}

/** A block that waits. */
export interface OverdueRow {
  readonly inbox: bigint
  readonly id: Uint8Array<ArrayBuffer>
  readonly slot: bigint
  readonly transactionId: Uint8Array<ArrayBuffer>
}
