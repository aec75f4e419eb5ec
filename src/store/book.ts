import type { Output, Transaction } from '../generated/prisma/client.ts'
import { isOfCarrier } from '../ledger/failure-reasons.ts'
import { assert } from '../lib/assert.ts'
import { ok, type Result } from '../lib/result.ts'
import type { BlockId, OutputId, SlotIndex, TransactionId } from '../protocol/primitives.ts'
import type { Booking, LeaseTerm, SlotContents } from './contract.ts'
import { allotmentsFrom } from './json-columns.ts'
import { toOutput, toTransaction } from './mapping.ts'
import { indexOutputs } from './output-index.ts'
import type { OutputRow, TransactionRow } from './rows.ts'
import * as table from './sql/bulk-tables.ts'
import type { Writing } from './sql/statements.ts'
import { judge, reopen } from './sql/transactions.ts'
import { idFromBytes } from './values.ts'
import { changeWaiting } from './waiting.ts'

/** Booking: what the inbox held becomes part of the ledger. */

/** Writes the verdicts and their effects, and throws where they do not fit what is there. */
export async function book(
  writing: Writing,
  term: number,
  { blocks, transactions, created, spent, waiting }: Booking,
): Promise<Result<LeaseTerm, never>> {
  const { tx, sql } = writing
  const marked = await sql.update(tx, table.blockStates, blocks, ifPending)
  assert(marked === blocks.length, 'every booked block was pending')
  const judged = await sql.update(tx, table.verdicts, transactions, judge)
  assert(judged === transactions.length, 'every booked transaction was pending')
  const failed = transactions.filter(({ failureReason }) => isOfCarrier(failureReason))
  if (failed.length > 0) await sql.update(tx, table.transactionIds, failed, reopen)
  // Created first: an output may be spent in the batch that creates it.
  await sql.insert(tx, table.outputs, created)
  await indexOutputs(writing, created)
  const ended = await sql.update(tx, table.spends, spent, ifUnspent)
  assert(ended === spent.length, 'every spent output was unspent')
  if (waiting !== undefined) await changeWaiting(writing, waiting)
  return ok({ term })
}

// The casts keep SQLite from finding rows by these columns: half the outputs are unspent, and each has an id.
const ifPending = { where: `CAST(blocks.state AS TEXT) = 'PENDING'` }
const ifUnspent = { where: 'CAST(outputs."spentSlot" AS BIGINT) IS NULL' }

/** The outputs of some ids, in one query. */
export async function outputsForBooking(
  { tx, sql }: Writing,
  outputIds: readonly OutputId[],
): Promise<OutputRow[]> {
  const ids = outputIds.map((outputId) => ({ outputId }))
  const rows = await sql.select<Output, { outputId: OutputId }>(tx, table.outputIds, ids)
  return rows.map(toOutput)
}

/** The transactions of some ids, in one query. */
export async function transactionsForBooking(
  { tx, sql }: Writing,
  transactionIds: readonly TransactionId[],
): Promise<TransactionRow[]> {
  const ids = transactionIds.map((transactionId) => ({ transactionId }))
  const rows = await sql.select<Transaction, { transactionId: TransactionId }>(
    tx,
    table.transactionIds,
    ids,
  )
  return rows.map(toTransaction)
}

/** What was booked into a range of slots. A block or transaction counts once it is accepted, also when it is final. */
export async function slotContents(
  { tx }: Writing,
  from: SlotIndex,
  to: SlotIndex,
): Promise<SlotContents> {
  const slots = { gte: BigInt(from), lte: BigInt(to) }
  // Said by what it is not, so that the slots are looked up and not the states, which most blocks share.
  const where = { slot: slots, state: { notIn: ['PENDING', 'DROPPED', 'FAILED'] } }
  const order = [{ slot: 'asc' }, { issuingTime: 'asc' }] as const
  const [blocks, transactions, created, spent] = await Promise.all([
    tx.block.findMany({ where, omit: { bytes: true }, orderBy: [...order] }),
    tx.transaction.findMany({ where, select: { id: true, slot: true, allotments: true } }),
    tx.output.findMany({ where: { bookedSlot: slots } }),
    tx.output.findMany({ where: { spentSlot: slots } }),
  ])
  const ofValidators = blocks.filter(({ kind }) => kind !== 0).map(({ id }) => id)
  const bytesById = await bytesOf(tx, ofValidators)
  return {
    blocks: blocks.map(({ id, slot, issuerId, workScore }) => ({
      slot: Number(slot),
      blockId: idFromBytes(id),
      issuerId: idFromBytes(issuerId),
      workScore: Number(workScore),
      bytes: bytesById.get(idFromBytes(id)),
    })),
    transactions: transactions.map(({ id, slot, allotments }) => ({
      slot: Number(slot),
      transactionId: idFromBytes(id),
      allotments: allotmentsFrom(allotments),
    })),
    created: created.map(toOutput),
    spent: spent.map(toOutput),
  }
}

/** The bytes of some blocks, by id. */
async function bytesOf(
  tx: Writing['tx'],
  ids: readonly Uint8Array<ArrayBuffer>[],
): Promise<ReadonlyMap<BlockId, Uint8Array>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.block.findMany({
    where: { id: { in: [...ids] } },
    select: { id: true, bytes: true },
  })
  return new Map(rows.map(({ id, bytes }) => [idFromBytes(id), bytes]))
}
