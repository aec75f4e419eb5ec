import type { Hex } from '../../lib/hex.ts'
import { transactionOf } from '../../protocol/ids.ts'
import type { TransactionId } from '../../protocol/primitives.ts'
import type { UpdateClass } from '../../store/rows.ts'
import type { Services } from '../services.ts'
import { keysetCursors } from './keyset-cursor.ts'
import {
  type PageArguments,
  type Paged,
  type PageOrder,
  type Part,
  type ReadPart,
  readPartPage,
} from './keyset-page.ts'

/** The transactions that created something for an address or spent something of it, page by page. */

/** Those that made updates of an address and class. */
export interface AddressTransactionList {
  readonly address: Hex
  readonly class: UpdateClass
}

/** A transaction by its last update of the address and class. */
export interface AddressTransaction {
  readonly transactionId: TransactionId
  readonly seq: number
}

/** Pages of parts of such lists, all of one page order, in one statement more than one for their entries. */
export async function readAddressTransactionParts(
  { store: { read } }: Pick<Services, 'store'>,
  parts: readonly Part<AddressTransactionList>[],
  page: PageOrder,
): Promise<AddressTransaction[][]> {
  const pages = await read.transactionEntryPages(parts, page)
  const spent = pages.flat().flatMap(({ outputId, isSpent }) => (isSpent ? outputId : []))
  const outputs = spent.length === 0 ? [] : await read.outputs(spent)
  const spenders = new Map(outputs.map(({ outputId, spentBy }) => [outputId, spentBy]))
  return pages.map((entries) =>
    entries.flatMap(({ seq, outputId, isSpent }) => {
      const transactionId = isSpent ? spenders.get(outputId) : transactionOf(outputId)
      return transactionId === undefined ? [] : { transactionId, seq }
    }),
  )
}

/** Transactions by their last updates of an address, as far as these are kept. */
export function listAddressTransactions(
  read: ReadPart<AddressTransactionList, AddressTransaction>,
  list: AddressTransactionList,
  args: PageArguments,
): Paged<AddressTransaction> {
  return readPartPage(read, list, lastEntries, args)
}

const lastEntries = {
  cursors: keysetCursors({ list: 'entry', values: ['NUMBER'] }),
  whole: { above: [0], below: [Number.MAX_SAFE_INTEGER] },
  positionOf: ({ seq }: AddressTransaction) => [seq],
}
