import { carrierFailures } from '../../ledger/failure-reasons.ts'
import type { RawTx } from '../client.ts'
import type { Change } from './bulk.ts'
import type { carriedTransactions, RowIn } from './bulk-tables.ts'

/** Statements on the states of transactions. */

/** Bulk statement that each database writes in its own way. */
export interface TransactionInserts {
  /**
   * Inserts pending transactions, without duplicates. A known transaction keeps its row. If it is pending, or failed because of its
   * carriers, it becomes or stays pending with the additional carriers to judge.
   */
  insertTransactions(tx: RawTx, carried: readonly CarriedTransaction[]): Promise<void>
}

/** Pending transaction with the first of the new blocks that carry it, and the number of these blocks. */
export type CarriedTransaction = RowIn<typeof carriedTransactions>

/** Sets the verdicts of transactions that are pending or failed because of their carriers. */
export const judge: Change = {
  set: `"blockId" = given."blockId", slot = given.slot, state = given.state,
    "failureReason" = given."failureReason", allotments = given.allotments,
    carriers = carriers - given."judgedCarriers"`,
  where: `(CAST(transactions.state AS TEXT) = 'PENDING' OR ${failedByCarrier('transactions')})`,
}

/** Makes transactions pending again that have unjudged carriers. */
export const reopen: Change = {
  set: `state = 'PENDING', "failureReason" = NULL`,
  where: 'transactions.carriers > 0',
}

/** SQL condition that a transaction failed because of its carrier, so that another carrier may be accepted. */
export function failedByCarrier(table: string): string {
  const reasons = carrierFailures.join(', ')
  return `(CAST(${table}.state AS TEXT) = 'FAILED' AND ${table}."failureReason" IN (${reasons}))`
}
