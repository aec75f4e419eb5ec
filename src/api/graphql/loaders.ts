import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import { err, type Result } from '../../lib/result.ts'
import { transactionOf } from '../../protocol/ids.ts'
import type { BlockId, OutputId, TransactionId } from '../../protocol/primitives.ts'
import { type AddressBalance, readBalances } from '../../service/addresses/read-address.ts'
import { type BlockView, isGenesisBlock, readBlocks } from '../../service/blocks/read-block.ts'
import {
  contentOfBlock,
  creatingTransaction,
  type ListedTransaction,
  readTransactions,
  type TransactionView,
} from '../../service/blocks/read-transaction.ts'
import { readChains } from '../../service/chains/read-chain.ts'
import type { Part, ReadParts } from '../../service/lists/keyset-page.ts'
import { readAddressTransactionParts } from '../../service/lists/list-address-transactions.ts'
import { readBlockParts, readChildParts } from '../../service/lists/list-blocks.ts'
import { readTransactionParts } from '../../service/lists/list-transactions.ts'
import { readMultiAddresses } from '../../service/outputs/find-outputs.ts'
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
import { orThrow } from '../errors/errors.ts'
import type { GatewayError } from '../errors/gateway-error.ts'
import type { GatewayContext } from './builder.ts'
import { createLoader, readInParts } from './loader.ts'

/** Loaders for the fields of a response. Each loader reads the rows or pages that one level of the response needs in one batch. */

/** Loads an output; `undefined` when it is not known. */
export const outputInBatch = byKey(async (services, ids: readonly OutputId[]) => {
  const views = await readOutputs(services, ids)
  return new Map(views.map((view) => [view.outputId, view]))
})

/** Loads outputs in the given order, without unknown outputs. */
export async function outputsInBatch(
  context: GatewayContext,
  outputIds: readonly OutputId[],
): Promise<OutputView[]> {
  const views = await Promise.all(outputIds.map((id) => outputInBatch(context, id)))
  return views.filter((view) => view !== undefined)
}

/** Loads a block; `undefined` when it is not known. */
export const blockInBatch = orFailing(byKey(readBlocks))
const readTransactionInBatch = byKey(readTransactions)
/** Loads a transaction; `undefined` when it is not known. */
export const transactionInBatch = orFailing(readTransactionInBatch)

/** Loads a transaction of the log. It fails when the upstream node does not have it; without a node `undefined` when it is not known. */
export async function loggedTransaction(
  context: GatewayContext,
  id: TransactionId,
): Promise<ListedTransaction | undefined> {
  return orNotKept(context, await transactionInBatch(context, id), `transaction ${id}`)
}

/** Loads a transaction of the log for a list. If the upstream node no longer has it, it is known without its block and its content. */
export async function listedTransaction(
  context: GatewayContext,
  { transactionId, slot }: Pick<ListedTransaction, 'transactionId' | 'slot'>,
): Promise<ListedTransaction> {
  const found = await readTransactionInBatch(context, transactionId)
  const isMissing = found === undefined || (!found.ok && found.error.code === 'NOT_KEPT_BY_NODE')
  if (!isMissing || context.services.source.node === undefined) {
    return orThrow(present(found, transactionId))
  }
  return { transactionId, slot, state: 'FINALIZED', blockId: undefined, failure: undefined }
}

/** The id of the block of a transaction; `undefined` for that of the genesis. It fails when the upstream node no longer has the block. */
export function blockIdOf({
  transactionId,
  blockId,
  inputIds,
}: ListedTransaction): BlockId | undefined {
  if (blockId !== undefined || inputIds !== undefined) return blockId
  return orThrow(err({ code: 'NOT_KEPT_BY_NODE', what: `transaction ${transactionId}` } as const))
}

/** Loads the block of an output, as `loggedTransaction` does; `undefined` for an output of the genesis, which has none. */
export async function loggedBlock(
  context: GatewayContext,
  id: BlockId,
): Promise<BlockView | undefined> {
  if (isGenesisBlock(context.services, id)) return undefined
  return orNotKept(context, await blockInBatch(context, id), `block ${id}`)
}

function orNotKept<T>(
  { services }: GatewayContext,
  found: T | undefined,
  what: string,
): T | undefined {
  const isMissing = found === undefined && services.source.node !== undefined
  return isMissing ? orThrow(err({ code: 'NOT_KEPT_BY_NODE', what } as const)) : found
}

/** Loads the transaction that created an output; `undefined` when it is not known. */
export async function creatorInBatch(
  context: GatewayContext,
  output: OutputView,
): Promise<ListedTransaction | undefined> {
  const tip = present(await tipInBatch(context, 'TIP'), 'the tip')
  return (
    creatingTransaction(context.services, output, tip) ??
    loggedTransaction(context, transactionOf(output.outputId))
  )
}

/** Returns a transaction with its content. Loads its block when the content is not known yet. */
export async function withContent(
  context: GatewayContext,
  listed: ListedTransaction,
): Promise<TransactionView> {
  const { payload, inputIds, outputIds, ...outcome } = listed
  if (inputIds !== undefined && outputIds !== undefined) {
    return { ...outcome, payload, inputIds, outputIds }
  }
  const blockId = present(blockIdOf(listed), 'a block')
  return { ...outcome, ...contentOfBlock(present(await blockInBatch(context, blockId), blockId)) }
}

/** Loads a chain; `undefined` when it is not known. */
export const chainInBatch = byKey(readChains)
/** Loads the milestone of a slot; `undefined` when the slot is not committed. */
export const milestoneInBatch = byKey(readMilestones)
/** Loads the milestone of a commitment; `undefined` when it is not known. */
export const milestoneOfCommitment = byKey(readMilestonesByCommitments)

/** Loads the base token balance of an address. */
export async function balanceInBatch(
  context: GatewayContext,
  address: Hex,
): Promise<AddressBalance> {
  return present(await loadBalance(context, address), address)
}
const loadBalance = byKey(readBalances)
/** Loads a multi address by its reference; `undefined` when no unspent output contains it. */
export const multiAddressInBatch = byKey(readMultiAddresses)

/** Loads the numbers of blocks and transactions that a milestone has accepted. */
export const milestoneCounts = orFailing(byKey(countMilestones))
/** Loads a row of the log by its position; `undefined` when it has been pruned. */
const updateInBatch = byKey(readUpdatesAt)
const tipInBatch = byKey(async (services, keys: readonly 'TIP'[]) => {
  const tip = await readLogTip(services)
  return new Map(keys.map((key) => [key, tip]))
})

/** Returns the reads for pages of the updates of milestones. */
export function milestoneUpdateReads(context: GatewayContext): MilestoneUpdateReads {
  return {
    tip: async () => present(await tipInBatch(context, 'TIP'), 'the tip'),
    updateAt: (seq) => updateInBatch(context, seq),
  }
}

const loadEntrySeq = createLoader(async (context, entries: readonly EntryOfSlot[]) => {
  const readSome = (some: readonly EntryOfSlot[]) => readEntrySeqs(context.services, some)
  return (await readInParts(context, entries, readSome)).flat()
})

/** Returns the reads for pages of the updates of transactions. */
export function transactionUpdateReads(context: GatewayContext): TransactionUpdateReads {
  const seqOf = (entry: EntryOfSlot) => loadEntrySeq(context, entry)
  return { ...milestoneUpdateReads(context), seqOf }
}

/** Loads a page of a part of a list of blocks. */
export const blockPart = partLoader(readBlockParts)
/** Loads a page of a part of the children of a block. */
export const childPart = partLoader(readChildParts)
/** Loads a page of a part of the transactions of an address. */
export const addressTransactionPart = partLoader(readAddressTransactionParts)
/** Loads a page of a part of a list of transactions. */
export const transactionPart = partLoader(readTransactionParts)

function byKey<K, V>(
  read: (services: Services, keys: readonly K[]) => Promise<ReadonlyMap<K, V>>,
): Load<K, V> {
  return createLoader(async (context, keys: readonly K[]) => {
    const maps = await readInParts(context, [...new Set(keys)], (some) =>
      read(context.services, some),
    )
    const found = maps.length === 1 ? maps[0] : new Map(maps.flatMap((map) => [...map]))
    return keys.map((key) => found?.get(key))
  })
}

type Load<K, V> = (context: GatewayContext, key: K) => Promise<V | undefined>

function orFailing<K, V>(load: Load<K, Result<V, GatewayError>>): Load<K, V> {
  return async (context, key) => {
    const found = await load(context, key)
    return found && orThrow(found)
  }
}

/** Creates a loader for pages of list parts. Parts with the same page size and order are read in one batch. */
function partLoader<A, Row>(read: ReadParts<A, Row>) {
  const load = createLoader(
    async (context, parts: readonly Part<A>[]) => {
      const { page } = present(parts[0], 'a part')
      const readSome = (some: readonly Part<A>[]) => read(context.services, some, page)
      return (await readInParts(context, parts, readSome, page.limit)).flat()
    },
    ({ page }) => `${page.order} ${page.limit}`,
  )
  return (context: GatewayContext) => ({
    source: context.services.source,
    read: async (part: Part<A>) => present(await load(context, part), 'a page'),
  })
}
