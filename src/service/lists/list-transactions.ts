import { present } from '../../lib/assert.ts'
import type { Result } from '../../lib/result.ts'
import type { Between, PageOrder } from '../../store/list-contract.ts'
import type { TransactionState } from '../../store/rows.ts'
import { type TransactionView, viewsOfTransactions } from '../blocks/read-transaction.ts'
import { listedHere, type NotOffered } from '../network/not-offered.ts'
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
  readKeysetPage,
} from './keyset-page.ts'
import type { ListReads } from './list-blocks.ts'

/** Transactions, page by page. */

/** What transactions must fulfil, all of it. */
export interface TransactionFilter extends MilestoneBounds {
  readonly state?: TransactionState | null | undefined
}

/** A page of transactions. */
export type TransactionPage = KeysetPage<Placed<TransactionView>>

/** Transactions in a state, or in any. */
export interface TransactionList {
  readonly state: TransactionState | undefined
}

/** Pages of parts of such lists, all of one page order, in two statements more than one for their positions. */
export async function readTransactionParts(
  deps: Pick<Services, 'store'>,
  parts: readonly Part<TransactionList>[],
  page: PageOrder,
): Promise<TransactionView[][]> {
  const pages = await deps.store.read.transactionPages(parts, page)
  const views = (await viewsOfTransactions(deps, pages.flat())).values()
  return pages.map((rows) => rows.map(() => present(views.next().value, 'a view')))
}

/** Transactions by slot and id. That of the genesis, which no block carries, is not among them. */
export async function listTransactions(
  { source, read }: ListReads<TransactionList, TransactionView>,
  filter: TransactionFilter,
  page: PageArguments,
): Promise<Result<TransactionPage, ListError | MilestoneRangeReversed | NotOffered>> {
  const listed = listedHere(source, 'lists of transactions')
  if (!listed.ok) return listed
  const whole = partOfSlots(filter, ['0x'])
  if (!whole.ok) return whole
  const state = filter.state ?? undefined
  const list = {
    cursors: transactionCursors,
    whole: whole.value,
    positionOf: ({ slot, transactionId }: TransactionView) => [slot, transactionId],
    read: (part: Between, order: PageOrder) => read({ ...part, state, page: order }),
  }
  return await readKeysetPage(list, page)
}

const transactionCursors = keysetCursors({ list: 'transaction', values: ['NUMBER', 36] })
