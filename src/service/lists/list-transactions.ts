import type { Result } from '../../lib/result.ts'
import type { Between, PageOrder } from '../../store/list-contract.ts'
import type { TransactionState } from '../../store/rows.ts'
import { outcomeOf, type TransactionOutcome } from '../blocks/read-transaction.ts'
import type { Services } from '../services.ts'
import type { MilestoneRangeReversed } from '../updates/list-ledger-updates.ts'
import { keysetCursors } from './keyset-cursor.ts'
import {
  type KeysetPage,
  type ListError,
  type MilestoneBounds,
  type PageArguments,
  type Part,
  type Placed,
  partOfSlots,
  type ReadPart,
  readKeysetPage,
} from './keyset-page.ts'

/** Transactions, page by page. */

/** What transactions must fulfil, all of it. */
export interface TransactionFilter extends MilestoneBounds {
  readonly state?: TransactionState | null | undefined
}

/** A page of transactions. */
export type TransactionPage = KeysetPage<Placed<TransactionOutcome>>

/** Transactions in a state, or in any. */
export interface TransactionList {
  readonly state: TransactionState | undefined
}

/** Pages of parts of such lists, all of one page order, in one statement more than those for their positions. */
export async function readTransactionParts(
  deps: Pick<Services, 'store'>,
  parts: readonly Part<TransactionList>[],
  page: PageOrder,
): Promise<TransactionOutcome[][]> {
  const pages = await deps.store.read.transactionPages(parts, page)
  return pages.map((rows) => rows.map(outcomeOf))
}

/** Transactions by slot and id. That of the genesis, which no block carries, is not among them. */
export async function listTransactions(
  read: ReadPart<TransactionList, TransactionOutcome>,
  filter: TransactionFilter,
  page: PageArguments,
): Promise<Result<TransactionPage, ListError | MilestoneRangeReversed>> {
  const whole = partOfSlots(filter, ['0x'])
  if (!whole.ok) return whole
  const state = filter.state ?? undefined
  const list = {
    cursors: transactionCursors,
    whole: whole.value,
    positionOf: ({ slot, transactionId }: TransactionOutcome) => [slot, transactionId],
    read: (part: Between, order: PageOrder) => read({ ...part, state, page: order }),
  }
  return await readKeysetPage(list, page)
}

const transactionCursors = keysetCursors({ list: 'transaction', values: ['NUMBER', 36] })
