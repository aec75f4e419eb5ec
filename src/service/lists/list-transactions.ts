import type { TransactionState } from '../../store/rows.ts'
import { outcomeOf, type TransactionOutcome } from '../blocks/read-transaction.ts'
import { listedHere, type NotOffered } from '../network/not-offered.ts'
import type { Services } from '../services.ts'
import type { MilestoneRangeReversed } from '../updates/list-ledger-updates.ts'
import { keysetCursors } from './keyset-cursor.ts'
import {
  type MilestoneBounds,
  type PageArguments,
  type Paged,
  type PageOrder,
  type Part,
  readSlotPage,
  type SlotList,
} from './keyset-page.ts'
import type { ListReads } from './list-blocks.ts'

/** Transactions, page by page. */

/** What transactions must fulfil, all of it. */
export interface TransactionFilter extends MilestoneBounds {
  readonly state?: TransactionState | null | undefined
}

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
  { source, read }: ListReads<TransactionList, TransactionOutcome>,
  filter: TransactionFilter,
  args: PageArguments,
): Paged<TransactionOutcome, MilestoneRangeReversed | NotOffered> {
  const listed = listedHere(source, 'lists of transactions')
  if (!listed.ok) return listed
  const state = filter.state ?? undefined
  const list: SlotList<TransactionOutcome> = {
    cursors: transactionCursors,
    beforeSlot: ['0x'],
    positionOf: ({ slot, transactionId }) => [slot, transactionId],
    read: (part, page) => read({ ...part, state, page }),
  }
  return readSlotPage(list, filter, args)
}

const transactionCursors = keysetCursors({ list: 'transaction', values: ['NUMBER', 36] })
