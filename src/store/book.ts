import { setImmediate } from 'node:timers/promises'
import type { Block, Output, Transaction } from '../generated/prisma/client.ts'
import { isOfCarrier } from '../ledger/failure-reasons.ts'
import { assert } from '../lib/assert.ts'
import { ok, type Result } from '../lib/result.ts'
import type { OutputId, SlotIndex, TransactionId } from '../protocol/primitives.ts'
import type { Booking, LeaseTerm } from './contract.ts'
import { allotmentsFrom } from './json-columns.ts'
import { toOutput, toTransaction } from './mapping.ts'
import { insertOutputs } from './output-index.ts'
import type { OutputRow, SlotContents, TransactionRow } from './rows.ts'
import * as table from './sql/bulk-tables.ts'
import type { RawWriting } from './sql/statements.ts'
import { judge, reopen } from './sql/transactions.ts'
import { idFromBytes } from './values.ts'
import { changeWaiting } from './waiting.ts'
import type { PendingBlock } from './waiting-contract.ts'

/** Booking: what the inbox held becomes part of the ledger. */

/** Writes the verdicts and their effects, and throws where they do not fit what is there. */
export async function book(
  writing: RawWriting,
  term: number,
  { blocks, transactions, created, spent, waiting }: Booking,
): Promise<Result<LeaseTerm, never>> {
  const { tx, sql } = writing
  const marked = await sql.update(tx, table.blockStates, blocks, ifPending)
  assert(marked === blocks.length, 'every booked block was pending')
  // Blocks without transactions have no effects.
  if (transactions.length > 0) {
    const judged = await sql.update(tx, table.verdicts, transactions, judge)
    assert(judged === transactions.length, 'every booked transaction was pending')
  }
  const failed = transactions.filter(({ failureReason }) => isOfCarrier(failureReason))
  if (failed.length > 0) await sql.update(tx, table.transactionIds, failed, reopen)
  // Created first: an output may be spent in the batch that creates it.
  await insertOutputs(writing, created)
  if (spent.length > 0) {
    const ended = await sql.update(tx, table.spends, spent, ifUnspent)
    assert(ended === spent.length, 'every spent output was unspent')
  }
  if (waiting !== undefined) await changeWaiting(writing, waiting)
  return ok({ term })
}

// The casts keep SQLite from finding rows by these columns: half the outputs are unspent, and each has an id.
const ifPending = { where: `CAST(blocks.state AS TEXT) = 'PENDING'` }
const ifUnspent = { where: 'CAST(outputs."spentSlot" AS BIGINT) IS NULL' }

/** The outputs of some ids, in one query. */
export async function outputsForBooking(
  { tx, sql }: RawWriting,
  outputIds: readonly OutputId[],
): Promise<OutputRow[]> {
  const ids = outputIds.map((outputId) => ({ outputId }))
  const rows = await sql.select<Output, { outputId: OutputId }>(tx, table.outputIds, ids)
  return rows.map(toOutput)
}

/** The transactions of some ids, in one query. */
export async function transactionsForBooking(
  { tx, sql }: RawWriting,
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

/** The blocks that are not booked yet, in inbox order. */
export async function pendingBlocks(
  { tx, sql }: RawWriting,
  limit: number,
): Promise<PendingBlock[]> {
  const pending = `SELECT id, inbox, slot, "transactionId",
      CASE WHEN "transactionId" IS NULL THEN NULL ELSE bytes END AS bytes
    FROM blocks WHERE state = 'PENDING' ORDER BY inbox LIMIT ?`
  const rows = await tx.$queryRawUnsafe<PendingRow[]>(sql.numbered(pending), limit)
  return rows.map(({ id, inbox, slot, transactionId, bytes }) => ({
    blockId: idFromBytes(id),
    inbox: Number(inbox),
    slot: Number(slot),
    transactionId: transactionId === null ? undefined : idFromBytes(transactionId),
    bytes: bytes ?? noBytes,
  }))
}

interface PendingRow extends Pick<Block, 'id' | 'inbox' | 'slot' | 'transactionId'> {
  readonly bytes: Uint8Array | null
}

const noBytes = new Uint8Array()

/** What was booked into a range of slots. A block or transaction counts once it is accepted, also when it is final. */
export async function slotContents(
  { tx, sql }: RawWriting,
  from: SlotIndex,
  to: SlotIndex,
): Promise<SlotContents> {
  const select = async <Row>(text: string) => {
    // The driver of SQLite is synchronous: a full slot is thousands of rows.
    await setImmediate()
    return tx.$queryRawUnsafe<Row[]>(sql.numbered(text), BigInt(from), BigInt(to))
  }
  // Said by what it is not, so that the slots are looked up and not the states, which most blocks share.
  const isIn = "slot BETWEEN ? AND ? AND state NOT IN ('PENDING', 'DROPPED', 'FAILED')"
  const blocks = await select<BlockOfSlot>(`SELECT id, slot, "issuerId", "workScore",
      CASE WHEN kind IN (1, 2) THEN bytes ELSE NULL END AS bytes
    FROM blocks WHERE ${isIn} ORDER BY slot, "issuingTime"`)
  const transactions = await select<Pick<Transaction, 'id' | 'slot' | 'allotments'>>(
    `SELECT id, slot, allotments FROM transactions WHERE ${isIn}`,
  )
  const created = await select<Output>('SELECT * FROM outputs WHERE "bookedSlot" BETWEEN ? AND ?')
  const spent = await select<Output>('SELECT * FROM outputs WHERE "spentSlot" BETWEEN ? AND ?')
  return {
    blocks: blocks.map(({ id, slot, issuerId, workScore, bytes }) => ({
      slot: Number(slot),
      blockId: idFromBytes(id),
      issuerId: idFromBytes(issuerId),
      workScore: Number(workScore),
      bytes: bytes ?? undefined,
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

/** A block of a slot, with the bytes of one that is not basic alone. */
interface BlockOfSlot extends Pick<Block, 'id' | 'slot' | 'issuerId' | 'workScore'> {
  readonly bytes: Uint8Array | null
}
