import { present } from '../../lib/assert.ts'
import type { TransactionState } from '../../store/rows.ts'
import { type TransactionView, viewsOfTransactions } from '../blocks/read-transaction.ts'
import type { MilestoneRangeReversed } from '../updates/list-ledger-updates.ts'
import { keysetCursors } from './keyset-cursor.ts'
import {
  type MilestoneBounds,
  type PageArguments,
  type Paged,
  type ReadPart,
  type ReadParts,
  readSlotPage,
  type SlotList,
} from './keyset-page.ts'

/** Transactions, page by page. */

/** What transactions must fulfil, all of it. */
export interface TransactionFilter extends MilestoneBounds {
  readonly state?: TransactionState | null | undefined
}

/** Transactions in a state, or in any. */
export interface TransactionList {
  readonly state: TransactionState | undefined
}

/** Pages of parts of such lists, in two statements more than one for their positions. */
export const readTransactionParts: ReadParts<TransactionList, TransactionView> = async (
  deps,
  parts,
  page,
) => {
  const pages = await deps.store.read.transactionPages(parts, page)
  const views = (await viewsOfTransactions(deps, pages.flat())).values()
  return pages.map((rows) => rows.map(() => present(views.next().value, 'a view')))
}

/** Transactions by slot and id. That of the genesis, which no block carries, is not among them. */
export function listTransactions(
  read: ReadPart<TransactionList, TransactionView>,
  filter: TransactionFilter,
  args: PageArguments,
): Paged<TransactionView, MilestoneRangeReversed> {
  const state = filter.state ?? undefined
  const list: SlotList<TransactionView> = {
    cursors: transactionCursors,
    beforeSlot: ['0x'],
    positionOf: ({ slot, transactionId }) => [slot, transactionId],
    read: (part, page) => read({ ...part, state, page }),
  }
  return readSlotPage(list, filter, args)
}

const transactionCursors = keysetCursors({ list: 'transaction', values: ['NUMBER', 36] })
