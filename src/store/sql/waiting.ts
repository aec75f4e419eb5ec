import type { SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import { awaitedIds, awaitingPlaces, waitingPlaces } from './bulk-tables.ts'
import type { RawWriting } from './statements.ts'

/** The statements of blocks whose transactions wait for others to be booked. */

/** Removes transactions from what blocks wait for. */
export async function releaseCarriers(
  { tx, sql }: RawWriting,
  transactionIds: readonly TransactionId[],
): Promise<void> {
  const keys = transactionIds.map((transactionId) => ({ transactionId }))
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

/** Removes blocks that wait, by their places in the inbox. */
export async function deleteWaiting(
  { tx, sql }: RawWriting,
  places: readonly number[],
): Promise<void> {
  const keys = places.map((inbox) => ({ inbox }))
  await sql.remove(tx, awaitingPlaces, keys)
  await sql.remove(tx, waitingPlaces, keys)
}

/** How many blocks wait for each of some transactions. */
export function countAwaited(
  { tx, sql }: RawWriting,
  transactionIds: readonly TransactionId[],
): Promise<AwaitedCount[]> {
  return sql.select(
    tx,
    awaitedIds,
    transactionIds.map((transactionId) => ({ transactionId })),
    (matched) => `SELECT "transactionId", count(*) AS count FROM (${matched}) AS awaited
      GROUP BY "transactionId"`,
  )
}

/** A transaction, and how many blocks wait for it. */
export interface AwaitedCount {
  readonly transactionId: Uint8Array<ArrayBuffer>
  readonly count: bigint
}

/** The blocks that wait for some transactions, in no order. */
export function awaitedBy(
  { tx, sql }: RawWriting,
  transactionIds: readonly TransactionId[],
): Promise<AwaitedRow[]> {
  return sql.select(
    tx,
    awaitedIds,
    transactionIds.map((transactionId) => ({ transactionId })),
    (matched) => `SELECT awaited."transactionId", awaited.inbox, waiting.missing
      FROM (${matched}) AS awaited
      JOIN waiting_carriers AS waiting ON waiting.inbox = awaited.inbox`,
  )
}

/** A transaction, and a block that waits for it, with how many transactions that block waits for in all. */
export interface AwaitedRow {
  readonly transactionId: Uint8Array<ArrayBuffer>
  readonly inbox: bigint
  readonly missing: number | bigint
}

/** The blocks that wait in the slots up to `upTo`, in inbox order. */
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

/** A block that waits. */
export interface OverdueRow {
  readonly inbox: bigint
  readonly id: Uint8Array<ArrayBuffer>
  readonly slot: bigint
  readonly transactionId: Uint8Array<ArrayBuffer>
}
