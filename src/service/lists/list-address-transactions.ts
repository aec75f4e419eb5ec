import type { Hex } from '../../lib/hex.ts'
import { err } from '../../lib/result.ts'
import { transactionOf } from '../../protocol/ids.ts'
import type { SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import type { UpdateClass } from '../../store/rows.ts'
import type { NotOffered } from '../network/not-offered.ts'
import type { Services } from '../services.ts'
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

/** A transaction, with its slot and the position of its last update of the address and class. */
export interface AddressTransaction {
  readonly transactionId: TransactionId
  readonly slot: SlotIndex
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
    entries.flatMap(({ seq, milestoneIndex: slot, outputId, isSpent }) => {
      const transactionId = isSpent ? spenders.get(outputId) : transactionOf(outputId)
      return transactionId === undefined ? [] : { transactionId, slot, seq }
    }),
  )
}

/**
 * Lists transactions by their last updates of an address, as far as the log keeps these. Refused if nodes are followed without proofs: the
 * log then does not record which transaction spent an output, so the list would lack transactions.
 */
export async function listAddressTransactions(
  { source, read }: AddressTransactionReads,
  list: AddressTransactionList,
  args: PageArguments,
): Paged<AddressTransaction, NotOffered> {
  if (source.node !== undefined && source.status().following?.withProofs === false) {
    const what = 'the transactions of an address with UPSTREAM_PROOFS=off'
    return err({ code: 'NOT_OFFERED_BY_NODES', what })
  }
  return await readPartPage(read, list, lastEntries, args)
}

/** The reads that lists of the transactions of an address use. */
export interface AddressTransactionReads {
  readonly source: Pick<Services['source'], 'node' | 'status'>
  readonly read: ReadPart<AddressTransactionList, AddressTransaction>
}

const lastEntries = {
  cursors: keysetCursors({ list: 'entry', values: ['NUMBER'] }),
  whole: { above: [0], below: [Number.MAX_SAFE_INTEGER] },
  positionOf: ({ seq }: AddressTransaction) => [seq],
}
