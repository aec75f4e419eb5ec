import { present } from '../../lib/assert.ts'
import type { SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import type { AwaitingCarrier, OverdueCarrier, WaitingChanges } from '../contract/waiting.ts'
import { inChunks } from '../in-chunks.ts'
import type { BlockRow } from '../rows.ts'
import * as table from '../sql/bulk-tables.ts'
import type { RawWriting, Writing } from '../sql/statements.ts'
import {
  awaitedBy,
  countAwaited,
  deleteWaiting,
  releaseCarriers,
  waitingUpTo,
} from '../sql/waiting.ts'
import { idFromBytes } from '../values.ts'

/** Booked blocks whose transactions wait for outputs to spend. */

/** Writes the changes of a booking. */
export async function changeWaiting(
  writing: RawWriting,
  { booked, over, begun }: WaitingChanges,
): Promise<void> {
  const { tx, sql } = writing
  if (booked.length > 0) await releaseCarriers(writing, booked)
  await inChunks(over, (part) => deleteWaiting(writing, part))
  const carriers = begun.map(({ inbox, slot, awaits }) => ({ inbox, slot, missing: awaits.length }))
  await inChunks(carriers, (part) => sql.insert(tx, table.waitingCarriers, part))
  const awaited = begun.flatMap(({ inbox, awaits }) =>
    awaits.map((transactionId) => ({ transactionId, inbox })),
  )
  await inChunks(awaited, (part) => sql.insert(tx, table.awaitedTransactions, part))
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
  writing: Writing,
  transactionIds: readonly TransactionId[],
): Promise<Map<TransactionId, number>> {
  const rows = await countAwaited(writing, transactionIds)
  return new Map(
    rows.map(({ transactionId, count }) => [idFromBytes(transactionId), Number(count)]),
  )
}

/** Returns the blocks that wait for some transactions. */
export async function carriersAwaiting(
  writing: Writing,
  transactionIds: readonly TransactionId[],
): Promise<AwaitingCarrier[]> {
  const pairs = await awaitedBy(writing, transactionIds)
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

/** Returns the waiting blocks of the slots up to `upTo`. */
export async function waitingCarriers(
  writing: Writing,
  upTo: SlotIndex,
  limit: number,
): Promise<OverdueCarrier[]> {
  const rows = await waitingUpTo(writing, upTo, limit)
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
