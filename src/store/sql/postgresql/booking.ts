import type { Output, Transaction } from '../../../generated/prisma/client.ts'
import { carrierFailures } from '../../../ledger/failure-reasons.ts'
import { allotmentsJson } from '../../json-columns.ts'
import type { BookingStatements } from '../statements.ts'
import { bytea, byteaOf, idsJson } from './values.ts'

/** The bulk statements of booking on PostgreSQL. */
export const bookingStatements: BookingStatements = {
  outputsByIds(tx, outputIds) {
    return tx.$queryRaw<Output[]>`
      SELECT id, bytes, "blockId", "bookedSlot", "spentSlot", "spentBy" FROM outputs
      JOIN jsonb_to_recordset(${idsJson(outputIds)}::jsonb) AS asked (id bytea) USING (id)`
  },

  transactionsByIds(tx, transactionIds) {
    return tx.$queryRaw<Transaction[]>`
      SELECT id, "blockId", slot, state, "failureReason", allotments FROM transactions
      JOIN jsonb_to_recordset(${idsJson(transactionIds)}::jsonb) AS asked (id bytea) USING (id)`
  },

  markBlocks(tx, blocks) {
    const rows = blocks.map((block) => ({ id: bytea(block.blockId), state: block.state }))
    return tx.$executeRaw`
      UPDATE blocks SET state = booked.state
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS booked (id bytea, state text)
      WHERE blocks.id = booked.id AND blocks.state = 'PENDING'`
  },

  markTransactions(tx, transactions) {
    const rows = transactions.map((transaction) => ({
      id: bytea(transaction.transactionId),
      blockId: bytea(transaction.blockId),
      slot: transaction.slot,
      state: transaction.state,
      failureReason: transaction.failureReason ?? null,
      allotments: allotmentsJson(transaction.allotments),
      judged: transaction.judgedCarriers ?? 1,
    }))
    return tx.$executeRaw`
      UPDATE transactions SET "blockId" = booked."blockId", slot = booked.slot,
        state = booked.state, "failureReason" = booked."failureReason",
        allotments = booked.allotments, carriers = carriers - booked.judged
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS booked
        (id bytea, "blockId" bytea, slot bigint, state text, "failureReason" int,
          allotments text, judged int)
      WHERE transactions.id = booked.id AND (transactions.state = 'PENDING'
        OR (transactions.state = 'FAILED'
          AND transactions."failureReason" = ANY (${carrierFailures}::int[])))`
  },

  async reopenTransactions(tx, transactionIds) {
    await tx.$executeRaw`
      UPDATE transactions SET state = 'PENDING', "failureReason" = NULL
      FROM jsonb_to_recordset(${idsJson(transactionIds)}::jsonb) AS asked (id bytea)
      WHERE transactions.id = asked.id AND transactions.carriers > 0`
  },

  insertOutputs(tx, outputs) {
    const rows = outputs.map((output) => ({
      id: bytea(output.outputId),
      bytes: byteaOf(output.bytes),
      blockId: output.blockId === undefined ? '\\x' : bytea(output.blockId),
      bookedSlot: output.bookedSlot,
    }))
    return tx.$executeRaw`
      INSERT INTO outputs (id, bytes, "blockId", "bookedSlot")
      SELECT id, bytes, "blockId", "bookedSlot"
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS created (id bytea, bytes bytea, "blockId" bytea, "bookedSlot" bigint)`
  },

  spendOutputs(tx, outputs) {
    const rows = outputs.map((output) => ({
      id: bytea(output.outputId),
      slot: output.spentSlot,
      by: output.spentBy === undefined ? null : bytea(output.spentBy),
    }))
    return tx.$executeRaw`
      UPDATE outputs SET "spentSlot" = spent.slot, "spentBy" = spent.by
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS spent (id bytea, slot bigint, by bytea)
      WHERE outputs.id = spent.id AND outputs."spentSlot" IS NULL`
  },
}
