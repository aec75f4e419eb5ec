import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import type { Result } from '../../lib/result.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import { type AddressBalance, readBalances } from '../../service/addresses/read-address.ts'
import { readBlocks } from '../../service/blocks/read-block.ts'
import {
  contentOfBlock,
  type ListedTransaction,
  readTransactions,
  type TransactionView,
} from '../../service/blocks/read-transaction.ts'
import { readChains } from '../../service/chains/read-chain.ts'
import type { Part, ReadParts } from '../../service/lists/keyset-page.ts'
import { readAddressTransactionParts } from '../../service/lists/list-address-transactions.ts'
import { readBlockParts, readChildParts } from '../../service/lists/list-blocks.ts'
import { readTransactionParts } from '../../service/lists/list-transactions.ts'
import { type OutputView, readOutputs } from '../../service/outputs/read-output.ts'
import type { Services } from '../../service/services.ts'
import {
  countMilestones,
  readMilestones,
  readMilestonesByCommitments,
} from '../../service/slots/read-milestone.ts'
import {
  type MilestoneUpdateReads,
  readUpdatesAt,
} from '../../service/updates/list-milestone-updates.ts'
import {
  type EntryOfSlot,
  readEntrySeqs,
  type TransactionUpdateReads,
} from '../../service/updates/list-transaction-updates.ts'
import { readLogTip } from '../../service/updates/log-tip.ts'
import { orThrow } from '../errors.ts'
import type { GatewayError } from '../gateway-error.ts'
import type { GatewayContext } from './builder.ts'
import { createLoader } from './loader.ts'

/** What the fields of an answer load, level by level: rows by their keys, and pages of lists. */

/** An output; `undefined` when it is not known. */
export const outputInBatch = byKey(async (services, ids: readonly OutputId[]) => {
  const views = await readOutputs(services, ids)
  return new Map(views.map((view) => [view.outputId, view]))
})

/** Those of some outputs that are known, in the order given. */
export async function outputsInBatch(
  context: GatewayContext,
  outputIds: readonly OutputId[],
): Promise<OutputView[]> {
  const views = await Promise.all(outputIds.map((id) => outputInBatch(context, id)))
  return views.filter((view) => view !== undefined)
}

/** A block; `undefined` when it is not known. */
export const blockInBatch = orFailing(byKey(readBlocks))
/** A transaction; `undefined` when it is not known. */
export const transactionInBatch = orFailing(byKey(readTransactions))

/** The same with what it says, for which its block is read. */
export async function withContent(
  context: GatewayContext,
  listed: ListedTransaction,
): Promise<TransactionView> {
  const { payload, inputIds, outputIds, ...outcome } = listed
  if (inputIds !== undefined && outputIds !== undefined) {
    return { ...outcome, payload, inputIds, outputIds }
  }
  const blockId = present(listed.blockId, 'a block')
  return { ...outcome, ...contentOfBlock(present(await blockInBatch(context, blockId), blockId)) }
}

/** A chain; `undefined` when it is not known. */
export const chainInBatch = byKey(readChains)
/** The milestone of a slot; `undefined` when it is not committed. */
export const milestoneInBatch = byKey(readMilestones)
/** The milestone of a commitment; `undefined` when it is not known. */
export const milestoneOfCommitment = byKey(readMilestonesByCommitments)

/** The base tokens of an address. */
export async function balanceInBatch(
  context: GatewayContext,
  address: Hex,
): Promise<AddressBalance> {
  return present(await loadBalance(context, address), address)
}
const loadBalance = byKey(readBalances)

/** How many blocks and transactions a milestone has accepted. */
export const milestoneCounts = orFailing(byKey(countMilestones))
/** A row of the log by its position; `undefined` if it is no longer kept. */
export const updateInBatch = byKey(readUpdatesAt)
const tipInBatch = byKey(async (services, keys: readonly 'TIP'[]) => {
  const tip = await readLogTip(services)
  return new Map(keys.map((key) => [key, tip]))
})

/** What pages of the updates of milestones read. */
export function milestoneUpdateReads(context: GatewayContext): MilestoneUpdateReads {
  return {
    tip: async () => present(await tipInBatch(context, 'TIP'), 'the tip'),
    updateAt: (seq) => updateInBatch(context, seq),
  }
}

const loadEntrySeq = createLoader(({ services }, entries: readonly EntryOfSlot[]) =>
  readEntrySeqs(services, entries),
)

/** What pages of the updates of transactions read. */
export function transactionUpdateReads(context: GatewayContext): TransactionUpdateReads {
  const seqOf = (entry: EntryOfSlot) => loadEntrySeq(context, entry)
  return { ...milestoneUpdateReads(context), seqOf }
}

/** A page of a part of a list of blocks. */
export const blockPart = partLoader(readBlockParts)
/** A page of a part of the children of a block. */
export const childPart = partLoader(readChildParts)
/** A page of a part of the transactions of an address. */
export const addressTransactionPart = partLoader(readAddressTransactionParts)
/** A page of a part of a list of transactions. */
export const transactionPart = partLoader(readTransactionParts)

function byKey<K, V>(
  read: (services: Services, keys: readonly K[]) => Promise<ReadonlyMap<K, V>>,
): Load<K, V> {
  return createLoader(async ({ services }, keys: readonly K[]) => {
    const found = await read(services, [...new Set(keys)])
    return keys.map((key) => found.get(key))
  })
}

type Load<K, V> = (context: GatewayContext, key: K) => Promise<V | undefined>

function orFailing<K, V>(load: Load<K, Result<V, GatewayError>>): Load<K, V> {
  return async (context, key) => {
    const found = await load(context, key)
    return found && orThrow(found)
  }
}

/** Parts are read together whose pages are of one size and order. */
function partLoader<A, Row>(read: ReadParts<A, Row>) {
  const load = createLoader(
    ({ services }, parts: readonly Part<A>[]) =>
      read(services, parts, present(parts[0], 'a part').page),
    ({ page }) => `${page.order} ${page.limit}`,
  )
  return (context: GatewayContext) => ({
    source: context.services.source,
    read: async (part: Part<A>) => present(await load(context, part), 'a page'),
  })
}
