import { insertText, jsonOf } from '../bulk.ts'
import { carriedTransactions } from '../bulk-tables.ts'
import { failedByCarrier, type TransactionInserts } from '../transactions.ts'
import { dialect } from './dialect.ts'

/** Statement that adds carriers of transactions on SQLite. */
export const transactionInserts: TransactionInserts = {
  async insertTransactions(tx, carried) {
    await tx.$executeRawUnsafe(insertOrCarry, jsonOf(dialect, carriedTransactions, carried))
  },
}

const insertOrCarry = `${insertText(dialect, carriedTransactions)} WHERE true
  ON CONFLICT (id) DO UPDATE SET state = 'PENDING', "failureReason" = NULL,
    "blockId" = iif(state = 'PENDING', "blockId", excluded."blockId"),
    slot = iif(state = 'PENDING', slot, excluded.slot),
    carriers = iif(state = 'PENDING', carriers, 0) + excluded.carriers
  WHERE state = 'PENDING' OR ${failedByCarrier('transactions')}`
