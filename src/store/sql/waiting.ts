import type { SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import { awaitedIds, awaitingPositions, waitingPositions } from './bulk-tables.ts'
import type { RawWriting } from './statements.ts'

/** Statements on blocks whose transactions wait for other transactions to be booked. */

/** Removes transactions from the lists of awaited transactions of blocks. */
export async function releaseCarriers(
  { tx, sql }: RawWriting,
  transactionIds: readonly TransactionId[],
): Promise<void> {
  const keys = keysOf(transactionIds)
  await sql.execute(
    tx,
    awaitedIds,
    keys,
    (matched) => `UPDATE waiting_carriers SET missing = missing - freed.count
      FROM (SELECT inbox, count(*) AS count FROM (${matched}) AS awaited GROUP BY inbox) AS freed
      WHERE waiting_carriers.inbox = freed.inbox`,
  )
  await sql.remove(tx, awaitedIds, keys)
}

/** Deletes waiting blocks by their places in the inbox. */
export async function deleteWaiting(
  { tx, sql }: RawWriting,
  places: readonly number[],
): Promise<void> {
  const keys = places.map((inbox) => ({ inbox }))
  await sql.remove(tx, awaitingPositions, keys)
  await sql.remove(tx, waitingPositions, keys)
}

/** Counts the blocks that wait for each transaction. */
export function countAwaited(
  { tx, sql }: RawWriting,
  transactionIds: readonly TransactionId[],
): Promise<AwaitedCount[]> {
  return sql.select(
    tx,
    awaitedIds,
    keysOf(transactionIds),
    (matched) => `SELECT "transactionId", count(*) AS count FROM (${matched}) AS awaited
      GROUP BY "transactionId"`,
  )
}

/** Transaction with the number of blocks that wait for it. */
export interface AwaitedCount {
  readonly transactionId: Uint8Array<ArrayBuffer>
  readonly count: bigint
}

/** Reads the blocks that wait for transactions, in no order. */
export function awaitedBy(
  { tx, sql }: RawWriting,
  transactionIds: readonly TransactionId[],
): Promise<AwaitedRow[]> {
  return sql.select(
    tx,
    awaitedIds,
    keysOf(transactionIds),
    (matched) => `SELECT awaited."transactionId", awaited.inbox, waiting.missing
      FROM (${matched}) AS awaited
      JOIN waiting_carriers AS waiting ON waiting.inbox = awaited.inbox`,
  )
}

/** Transaction and a block that waits for it, with the number of all transactions that the block waits for. */
export interface AwaitedRow {
  readonly transactionId: Uint8Array<ArrayBuffer>
  readonly inbox: bigint
  readonly missing: number | bigint
}

/** Reads the waiting blocks of slots up to `upTo`, in inbox order. */
export function waitingUpTo(
  { tx, sql }: RawWriting,
  upTo: SlotIndex,
  limit: number,
): Promise<OverdueRow[]> {
  const overdue = `SELECT blocks.inbox, blocks.id, blocks.slot, blocks."transactionId"
    FROM waiting_carriers AS waiting JOIN blocks ON blocks.inbox = waiting.inbox
    WHERE waiting.slot <= ? ORDER BY waiting.inbox LIMIT ?`
  return tx.$queryRawUnsafe(sql.numbered(overdue), BigInt(upTo), limit)
}

/** Waiting block. */
export interface OverdueRow {
  readonly inbox: bigint
  readonly id: Uint8Array<ArrayBuffer>
  readonly slot: bigint
  readonly transactionId: Uint8Array<ArrayBuffer>
}

function keysOf(transactionIds: readonly TransactionId[]) {
  return transactionIds.map((transactionId) => ({ transactionId }))
}
