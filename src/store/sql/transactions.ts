import { carrierFailures } from '../../ledger/failure-reasons.ts'
import type { RawTx } from '../client.ts'
import type { Change } from './bulk.ts'
import type { carriedTransactions, RowIn } from './bulk-tables.ts'

/** The states of transactions in statements. */

/** The one bulk statement that the databases write differently. */
export interface TransactionInserts {
  /**
   * Adds pending transactions, each once. One that is known keeps its row; if it is still pending, or failed because of its
   * carriers, it has more carriers to be judged and is pending (again).
   */
  insertTransactions(tx: RawTx, carried: readonly CarriedTransaction[]): Promise<void>
}

/** A pending transaction with the first of the new blocks that carry it, and how many these are. */
export type CarriedTransaction = RowIn<typeof carriedTransactions>

/** Gives pending transactions, and those that failed because of their carriers, their verdict. */
export const judge: Change = {
  set: `"blockId" = given."blockId", slot = given.slot, state = given.state,
    "failureReason" = given."failureReason", allotments = given.allotments,
    carriers = carriers - given."judgedCarriers"`,
  where: `(CAST(transactions.state AS TEXT) = 'PENDING' OR ${failedByCarrier('transactions')})`,
}

/** Makes transactions pending again that have carriers which are not judged. */
export const reopen: Change = {
  set: `state = 'PENDING', "failureReason" = NULL`,
  where: 'transactions.carriers > 0',
}

/** Whether the transaction failed because of a carrier, so that another one may be accepted. */
export function failedByCarrier(table: string): string {
  const reasons = carrierFailures.join(', ')
  return `(CAST(${table}.state AS TEXT) = 'FAILED' AND ${table}."failureReason" IN (${reasons}))`
}
