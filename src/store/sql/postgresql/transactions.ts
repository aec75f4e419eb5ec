import { insertText, jsonOf } from '../bulk.ts'
import { carriedTransactions } from '../bulk-tables.ts'
import { failedByCarrier, type TransactionInserts } from '../transactions.ts'
import { dialect } from './dialect.ts'

/** Statement that adds carriers of transactions on PostgreSQL. */
export const transactionInserts: TransactionInserts = {
  async insertTransactions(tx, carried) {
    const json = jsonOf(dialect, carriedTransactions, carried)
    // The caller holds the lock of the inbox row, so no other process inserts meanwhile. An insert that conflicts with a known
    // transaction could wait for its booking, even with DO NOTHING.
    const inserted = await tx.$executeRawUnsafe(insertUnknown, json)
    if (inserted < carried.length) await tx.$executeRawUnsafe(carryAgain, json)
  },
}

const given = dialect.given(carriedTransactions.columns)

const insertUnknown = `${insertText(dialect, carriedTransactions)}
  WHERE NOT EXISTS (SELECT FROM transactions AS known WHERE known.id = given.id)`

/**
 * Adds carriers to known transactions. It excludes the transactions inserted just now, which have the given block. It skips a transaction
 * that is being booked, because booking may wait for the row of the inbox. Such a transaction may be reported as failed until the next
 * booking judges the new carrier.
 */
const carryAgain = `
  UPDATE transactions SET state = 'PENDING', "failureReason" = NULL,
    "blockId" = CASE transactions.state WHEN 'PENDING' THEN transactions."blockId"
      ELSE known."blockId" END,
    slot = CASE transactions.state WHEN 'PENDING' THEN transactions.slot ELSE known.slot END,
    carriers = CASE transactions.state WHEN 'PENDING' THEN transactions.carriers ELSE 0 END
      + known.carriers
  FROM (
    SELECT id, given."blockId", given.slot, given.carriers FROM transactions AS free
    JOIN ${given} USING (id)
    WHERE free."blockId" <> given."blockId"
      AND (free.state = 'PENDING' OR ${failedByCarrier('free')})
    FOR UPDATE OF free SKIP LOCKED
  ) AS known
  WHERE transactions.id = known.id`
