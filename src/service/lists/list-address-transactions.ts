import type { Hex } from '../../lib/hex.ts'
import { transactionOf } from '../../protocol/ids.ts'
import type { TransactionId } from '../../protocol/primitives.ts'
import type { UpdateClass } from '../../store/rows.ts'
import { keysetCursors } from './keyset-cursor.ts'
import {
  type PageArguments,
  type Paged,
  type ReadPart,
  type ReadParts,
  readPartPage,
} from './keyset-page.ts'

/** Pages of the transactions that created or spent outputs of an address. */

/** The transactions with updates of an address and class. */
export interface AddressTransactionList {
  readonly address: Hex
  readonly class: UpdateClass
}

/** A transaction, with the position of its last update of the address and class. */
export interface AddressTransaction {
  readonly transactionId: TransactionId
  readonly seq: number
}

/** Reads pages of several lists, in one statement for the entries and one for the spent outputs. */
export const readAddressTransactionParts: ReadParts<
  AddressTransactionList,
  AddressTransaction
> = async ({ store: { read } }, parts, page) => {
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

/** Lists transactions by their last updates of an address, as far as the log keeps these. */
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
