import type { TransactionState } from '../../store/rows.ts'
import { outcomeOf, type TransactionOutcome } from '../blocks/read-transaction.ts'
import { checkOffered, type NotOffered } from '../network/not-offered.ts'
import type { MilestoneRangeReversed } from '../updates/list-ledger-updates.ts'
import { keysetCursors } from './keyset-cursor.ts'
import {
  type MilestoneBounds,
  type PageArguments,
  type Paged,
  type ReadParts,
  readSlotPage,
  type SlotList,
} from './keyset-page.ts'
import type { ListReads } from './list-blocks.ts'

/** Pages of transactions. */

/** Conditions on transactions; a listed transaction meets all of them. */
export interface TransactionFilter extends MilestoneBounds {
  readonly state?: TransactionState | null | undefined
}

/** The transactions in a state; all transactions if `undefined`. */
export interface TransactionList {
  readonly state: TransactionState | undefined
}

/** Reads pages of several lists, all with the same page order: the statements for their positions, and one for the transactions. */
export const readTransactionParts: ReadParts<TransactionList, TransactionOutcome> = async (
  deps,
  parts,
  page,
) => {
  const pages = await deps.store.read.transactionPages(parts, page)
  return pages.map((rows) => rows.map(outcomeOf))
}

/** Lists transactions by slot and id. The genesis transaction, which has no block, is not listed. */
export async function listTransactions(
  { source, read }: ListReads<TransactionList, TransactionOutcome>,
  filter: TransactionFilter,
  args: PageArguments,
): Paged<TransactionOutcome, MilestoneRangeReversed | NotOffered> {
  const listed = checkOffered(source, 'lists of transactions')
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
