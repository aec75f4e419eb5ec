import type { Block as BlockModel } from '../../generated/prisma/client.ts'
import { present } from '../../lib/assert.ts'
import type { SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import type { AwaitingCarrier, OverdueCarrier, WaitingChanges } from '../contract/waiting.ts'
import { inChunks } from '../in-chunks.ts'
import type { BlockRow } from '../rows.ts'
import * as table from '../sql/bulk-tables.ts'
import type { RawWriting, Writing } from '../sql/statements.ts'
import { idFromBytes } from '../values.ts'

/** Booked blocks whose transactions wait for outputs to spend. */

/** Writes the changes of a booking. */
export async function changeWaiting(
  writing: RawWriting,
  { booked, over, begun }: WaitingChanges,
): Promise<void> {
  const { tx, sql } = writing
  if (booked.length > 0) await releaseCarriers(writing, booked)
  await inChunks(over, async (part) => {
    const places = part.map((inbox) => ({ inbox }))
    await sql.remove(tx, table.awaitingPositions, places)
    await sql.remove(tx, table.waitingPositions, places)
  })
  const carriers = begun.map(({ inbox, slot, awaits }) => ({ inbox, slot, missing: awaits.length }))
  await inChunks(carriers, (part) => sql.insert(tx, table.waitingCarriers, part))
  const awaited = begun.flatMap(({ inbox, awaits }) =>
    awaits.map((transactionId) => ({ transactionId, inbox })),
  )
  await inChunks(awaited, (part) => sql.insert(tx, table.awaitedTransactions, part))
}

/** Removes transactions from the lists of awaited transactions of blocks. */
async function releaseCarriers(
  { tx, sql }: RawWriting,
  transactionIds: readonly TransactionId[],
): Promise<void> {
  const keys = keysOf(transactionIds)
  await sql.execute(
    tx,
    table.awaitedIds,
    keys,
    (matched) => `UPDATE waiting_carriers SET missing = missing - freed.count
      FROM (SELECT inbox, count(*) AS count FROM (${matched}) AS awaited GROUP BY inbox) AS freed
      WHERE waiting_carriers.inbox = freed.inbox`,
  )
  await sql.remove(tx, table.awaitedIds, keys)
}

export function countWaiting({ tx }: Writing): Promise<number> {
  return tx.waitingCarrier.count()
}

/** Returns blocks that no longer wait for any transaction. */
export async function releasedCarriers(writing: Writing, limit: number): Promise<BlockRow[]> {
  const rows = await writing.tx.waitingCarrier.findMany({
    where: { missing: 0 },
    orderBy: { inbox: 'asc' },
    take: limit,
  })
  return blocksAt(
    writing,
    rows.map(({ inbox }) => inbox),
  )
}

/** Number of blocks that wait for each of some transactions. */
export async function awaitedCounts(
  { tx, sql }: RawWriting,
  transactionIds: readonly TransactionId[],
): Promise<Map<TransactionId, number>> {
  const rows = await sql.select<AwaitedCount, { transactionId: TransactionId }>(
    tx,
    table.awaitedIds,
    keysOf(transactionIds),
    (matched) => `SELECT "transactionId", count(*) AS count FROM (${matched}) AS awaited
      GROUP BY "transactionId"`,
  )
  return new Map(
    rows.map(({ transactionId, count }) => [idFromBytes(transactionId), Number(count)]),
  )
}

/** Returns the blocks that wait for some transactions. */
export async function carriersAwaiting(
  writing: Writing,
  transactionIds: readonly TransactionId[],
): Promise<AwaitingCarrier[]> {
  const { tx, sql } = writing
  const pairs = await sql.select<AwaitedRow, { transactionId: TransactionId }>(
    tx,
    table.awaitedIds,
    keysOf(transactionIds),
    (matched) => `SELECT awaited."transactionId", awaited.inbox, waiting.missing
      FROM (${matched}) AS awaited
      JOIN waiting_carriers AS waiting ON waiting.inbox = awaited.inbox`,
  )
  const found = new Map<bigint, { missing: number; awaits: TransactionId[] }>()
  for (const { inbox, missing, transactionId } of pairs) {
    const carrier = found.get(inbox) ?? { missing: Number(missing), awaits: [] }
    carrier.awaits.push(idFromBytes(transactionId))
    found.set(inbox, carrier)
  }
  const blocks = await blocksAt(writing, [...found.keys()])
  return blocks.map((block) => ({
    block,
    ...present(found.get(BigInt(block.inbox)), 'a block that waits'),
  }))
}

/** Returns the waiting blocks of the slots up to `upTo`, in inbox order. */
export async function waitingCarriers(
  { tx, sql }: RawWriting,
  upTo: SlotIndex,
  limit: number,
): Promise<OverdueCarrier[]> {
  const overdue = `SELECT blocks.inbox, blocks.id, blocks.slot, blocks."transactionId"
    FROM waiting_carriers AS waiting JOIN blocks ON blocks.inbox = waiting.inbox
    WHERE waiting.slot <= ? ORDER BY waiting.inbox LIMIT ?`
  const rows = await tx.$queryRawUnsafe<OverdueRow[]>(sql.numbered(overdue), BigInt(upTo), limit)
  return rows.map(({ inbox, id, slot, transactionId }) => ({
    inbox: Number(inbox),
    blockId: idFromBytes(id),
    slot: Number(slot),
    transactionId: idFromBytes(transactionId),
  }))
}

async function blocksAt({ tx }: Writing, places: readonly bigint[]): Promise<BlockRow[]> {
  if (places.length === 0) return []
  const rows = await tx.block.findMany({
    where: { inbox: { in: [...places] } },
    orderBy: { inbox: 'asc' },
  })
  return rows.map(table.blocks.rowFrom)
}

function keysOf(transactionIds: readonly TransactionId[]) {
  return transactionIds.map((transactionId) => ({ transactionId }))
}

/** Transaction with the number of blocks that wait for it. */
interface AwaitedCount {
  readonly transactionId: Uint8Array
  readonly count: bigint
}

/** Transaction and a block that waits for it, with the number of all transactions that the block waits for. */
interface AwaitedRow {
  readonly transactionId: Uint8Array
  readonly inbox: bigint
  readonly missing: number | bigint
}

/** Waiting block. */
type OverdueRow = Pick<BlockModel, 'inbox' | 'id' | 'slot'> & {
  readonly transactionId: Uint8Array
}
