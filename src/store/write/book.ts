import type { Block, Output, Transaction } from '../../generated/prisma/client.ts'
import { isOfCarrier } from '../../ledger/failure-reasons.ts'
import { assert } from '../../lib/assert.ts'
import { noBytes } from '../../lib/hex.ts'
import { ok, type Result } from '../../lib/result.ts'
import { eachInTurns } from '../../lib/turns.ts'
import type { OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import type { LeaseTerm } from '../contract/lease.ts'
import type { PendingBlock } from '../contract/waiting.ts'
import type { Booking } from '../contract.ts'
import { inChunks } from '../in-chunks.ts'
import { allotmentsFrom } from '../json-columns.ts'
import type {
  OutputRow,
  SlotBlock,
  SlotConsumer,
  SlotContents,
  SlotTransaction,
  TransactionRow,
} from '../rows.ts'
import * as table from '../sql/bulk-tables.ts'
import {
  createdInSlots,
  isAccepted,
  maxIdBytes,
  pagesOfSlots,
  spentInSlots,
} from '../sql/slot-outputs.ts'
import type { RawWriting } from '../sql/statements.ts'
import { judge, reopen } from '../sql/transactions.ts'
import { idFromBytes } from '../values.ts'
import { insertOutputs } from './output-index.ts'
import { changeWaiting } from './waiting.ts'

/** Books blocks of the inbox into the ledger. */

/** Writes verdicts and their effects. Throws if they contradict the current ledger. */
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
  // Inserts come first, because an output may be spent in the batch that creates it.
  await insertOutputs(writing, created)
  // A followed slot is one batch, whatever its size.
  await inChunks(spent, async (some) => {
    const ended = await sql.update(tx, table.spends, some, ifUnspent)
    assert(ended === some.length, 'every spent output was unspent')
  })
  if (waiting !== undefined) await changeWaiting(writing, waiting)
  return ok({ term })
}

// The casts keep SQLite from using indexes on these columns. Half of the outputs are unspent, and each row is found by its id.
const ifPending = { where: `CAST(blocks.state AS TEXT) = 'PENDING'` }
const ifUnspent = { where: 'CAST(outputs."spentSlot" AS BIGINT) IS NULL' }

/** Reads the outputs with some ids, in one query. */
export async function outputsForBooking(
  { tx, sql }: RawWriting,
  outputIds: readonly OutputId[],
): Promise<OutputRow[]> {
  const ids = outputIds.map((outputId) => ({ outputId }))
  const rows = await sql.select<Output, { outputId: OutputId }>(tx, table.outputIds, ids)
  return rows.map(toOutput)
}

/** Converts an output. A literal, which takes half the time of `rowFrom`, because a booking reads more outputs than other rows. */
function toOutput(row: Output): OutputRow {
  return {
    outputId: idFromBytes(row.id),
    bytes: row.bytes,
    blockId: row.blockId.length === 0 ? undefined : idFromBytes(row.blockId),
    bookedSlot: Number(row.bookedSlot),
    spentSlot: row.spentSlot === null ? undefined : Number(row.spentSlot),
    spentBy: row.spentBy === null ? undefined : idFromBytes(row.spentBy),
  }
}

/** Reads the transactions with some ids, in one query. */
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
  return rows.map(table.transactions.rowFrom)
}

/** Reads the blocks that are not booked yet, in inbox order. */
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

/** Reads the rows that were booked into a range of slots. Blocks and transactions are included once they are accepted or final. */
export async function slotContents(
  reading: RawWriting,
  from: SlotIndex,
  to: SlotIndex,
): Promise<SlotContents> {
  const [blocks, transactions]: [SlotBlock[], SlotTransaction[]] = [[], []]
  const [created, spent]: [OutputRow[], OutputRow[]] = [[], []]
  await readSlots(reading, from, to, {
    block: (one) => blocks.push(one),
    transaction: (one) => transactions.push(one),
    created: (one) => created.push(one),
    spent: (one) => spent.push(one),
  })
  return { blocks, transactions, created, spent }
}

/** Passes the rows that were booked into a range of slots to `take` one by one, without keeping them in memory. */
export async function readSlots(
  reading: RawWriting,
  from: SlotIndex,
  to: SlotIndex,
  take: SlotConsumer,
): Promise<void> {
  const range = { after: from - 1, upTo: to }
  const before = BigInt(from) - 1n
  const blocks = pagesOfSlots<BlockOfSlot>(reading, blocksOfSlots, {
    upTo: to,
    first: [before, lastTime, lastTime],
    placeOf: ({ slot, issuingTime, inbox }) => [slot, issuingTime, inbox],
  })
  const transactions = pagesOfSlots<TransactionOfSlot>(reading, transactionsOfSlots, {
    upTo: to,
    first: [before, maxIdBytes],
    placeOf: ({ slot, id }) => [slot, id],
  })
  for await (const page of blocks) await eachInTurns(page, (row) => take.block(blockOf(row)))
  for await (const page of transactions) {
    await eachInTurns(page, (row) => take.transaction(transactionOf(row)))
  }
  for await (const page of createdInSlots(reading, range)) {
    await eachInTurns(page, (row) => take.created(toOutput(row)))
  }
  for await (const page of spentInSlots(reading, range)) {
    await eachInTurns(page, (row) => take.spent(toOutput(row)))
  }
}

function blockOf({ id, slot, issuerId, workScore, bytes }: BlockOfSlot): SlotBlock {
  return {
    slot: Number(slot),
    blockId: idFromBytes(id),
    issuerId: idFromBytes(issuerId),
    workScore: Number(workScore),
    bytes: bytes ?? undefined,
  }
}

function transactionOf({ id, slot, allotments }: TransactionOfSlot): SlotTransaction {
  return {
    slot: Number(slot),
    transactionId: idFromBytes(id),
    allotments: allotmentsFrom(allotments),
  }
}

const blocksOfSlots = `SELECT id, slot, "issuerId", "workScore", "issuingTime", inbox,
    CASE WHEN kind IN (1, 2) THEN bytes ELSE NULL END AS bytes
  FROM blocks WHERE (slot, "issuingTime", inbox) > (?, ?, ?) AND slot <= ? AND ${isAccepted}
  ORDER BY slot, "issuingTime", inbox`

const transactionsOfSlots = `SELECT id, slot, allotments FROM transactions
  WHERE (slot, id) > (?, ?) AND slot <= ? AND ${isAccepted} ORDER BY slot, id`

const lastTime = 2n ** 63n - 1n

type TransactionOfSlot = Pick<Transaction, 'id' | 'slot' | 'allotments'>

/** A block of a slot. Only validation blocks and candidacy announcements have bytes. */
interface BlockOfSlot
  extends Pick<Block, 'id' | 'slot' | 'issuerId' | 'workScore' | 'issuingTime' | 'inbox'> {
  readonly bytes: Uint8Array | null
}
