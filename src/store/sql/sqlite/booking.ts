import type { Output, Transaction } from '../../../generated/prisma/client.ts'
import { carrierFailures } from '../../../ledger/failure-reasons.ts'
import { allotmentsJson } from '../../json-columns.ts'
import { digits, digitsOf } from '../../values.ts'
import type { BookingStatements } from '../statements.ts'
import { idsJson } from './ids-json.ts'

/**
 * The bulk statements of booking on SQLite. The plus before a column keeps SQLite from finding rows by it: half the
 * outputs are unspent, and each has an id.
 */
export const bookingStatements: BookingStatements = {
  outputsByIds(tx, outputIds) {
    return tx.$queryRaw<Output[]>`
      SELECT id, bytes, "blockId", "bookedSlot", "spentSlot", "spentBy" FROM outputs
      WHERE id IN (SELECT unhex(value) FROM json_each(${idsJson(outputIds)}))`
  },

  transactionsByIds(tx, transactionIds) {
    return tx.$queryRaw<Transaction[]>`
      SELECT id, "blockId", slot, state, "failureReason", allotments FROM transactions
      WHERE id IN (SELECT unhex(value) FROM json_each(${idsJson(transactionIds)}))`
  },

  markBlocks(tx, blocks) {
    const rows = blocks.map((block) => [digits(block.blockId), block.state])
    return tx.$executeRaw`
      UPDATE blocks SET state = booked.value ->> 1
      FROM json_each(${JSON.stringify(rows)}) AS booked
      WHERE blocks.id = unhex(booked.value ->> 0) AND +blocks.state = 'PENDING'`
  },

  markTransactions(tx, transactions) {
    const rows = transactions.map((transaction) => [
      digits(transaction.transactionId),
      digits(transaction.blockId),
      transaction.slot,
      transaction.state,
      transaction.failureReason ?? null,
      allotmentsJson(transaction.allotments),
      transaction.judgedCarriers ?? 1,
    ])
    return tx.$executeRaw`
      UPDATE transactions SET "blockId" = unhex(booked.value ->> 1), slot = booked.value ->> 2,
        state = booked.value ->> 3, "failureReason" = booked.value ->> 4,
        allotments = booked.value ->> 5, carriers = carriers - (booked.value ->> 6)
      FROM json_each(${JSON.stringify(rows)}) AS booked
      WHERE transactions.id = unhex(booked.value ->> 0) AND (+transactions.state = 'PENDING'
        OR (+transactions.state = 'FAILED' AND transactions."failureReason" IN (
          SELECT value FROM json_each(${JSON.stringify(carrierFailures)}))))`
  },

  async reopenTransactions(tx, transactionIds) {
    await tx.$executeRaw`
      UPDATE transactions SET state = 'PENDING', "failureReason" = NULL
      WHERE id IN (SELECT unhex(value) FROM json_each(${idsJson(transactionIds)}))
        AND carriers > 0`
  },

  insertOutputs(tx, outputs) {
    const rows = outputs.map((output) => [
      digits(output.outputId),
      digitsOf(output.bytes),
      output.blockId === undefined ? '' : digits(output.blockId),
      output.bookedSlot,
    ])
    return tx.$executeRaw`
      INSERT INTO outputs (id, bytes, "blockId", "bookedSlot")
      SELECT unhex(value ->> 0), unhex(value ->> 1), unhex(value ->> 2), value ->> 3
      FROM json_each(${JSON.stringify(rows)})`
  },

  spendOutputs(tx, outputs) {
    const rows = outputs.map((output) => [
      digits(output.outputId),
      output.spentSlot,
      output.spentBy === undefined ? null : digits(output.spentBy),
    ])
    return tx.$executeRaw`
      UPDATE outputs SET "spentSlot" = spent.value ->> 1, "spentBy" = unhex(spent.value ->> 2)
      FROM json_each(${JSON.stringify(rows)}) AS spent
      WHERE outputs.id = unhex(spent.value ->> 0) AND +outputs."spentSlot" IS NULL`
  },
}
