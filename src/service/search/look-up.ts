import { updateClasses } from '../../ledger/updates.ts'
import type { Hex } from '../../lib/hex.ts'
import { transactionOf } from '../../protocol/ids.ts'
import { slotOfTime } from '../../protocol/slots.ts'
import {
  type BlockView,
  type NotServedByNode,
  readBlocks,
  viewOfBlock,
} from '../blocks/read-block.ts'
import { type ListedTransaction, outcomeOf, readTransactions } from '../blocks/read-transaction.ts'
import type { ChainRecordVersion } from '../chain-records/chain-records.ts'
import { type ChainView, chainKinds, readChainOfAddress, readChains } from '../chains/read-chain.ts'
import { type OutputView, readOutputs, viewOfOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'
import { type MilestoneView, milestoneView, readMilestone } from '../slots/read-milestone.ts'
import type { Meaning } from './meanings.ts'

/** Looks up the objects for each meaning of a search text. */

/** An object that a search has found. */
export type Found =
  | { readonly kind: 'BLOCK'; readonly thing: BlockView }
  | { readonly kind: 'TRANSACTION'; readonly thing: ListedTransaction }
  | { readonly kind: 'MILESTONE'; readonly thing: MilestoneView }
  | { readonly kind: 'OUTPUT'; readonly thing: OutputView }
  | {
      readonly kind: 'ACCOUNT' | 'ANCHOR' | 'TOKEN' | 'NFT' | 'DELEGATION'
      readonly thing: ChainView
    }
  /** The key of the address. */
  | { readonly kind: 'ADDRESS'; readonly thing: Hex }
  | { readonly kind: 'CHAIN_RECORD'; readonly thing: ChainRecordVersion }

/** Why a search has no hits: a code, and a sentence for people. */
export interface Nothing {
  readonly reason:
    | 'UNKNOWN'
    | 'MALFORMED'
    | 'TOO_SHORT'
    | 'OTHER_NETWORK'
    | 'BEFORE_GENESIS'
    | 'NOT_COMMITTED'
    | 'NOT_KEPT_BY_NODE'
    | 'NOT_TOLD_BY_NODE'
  readonly sentence: string
}

export type SearchDeps = Pick<Services, 'store' | 'source' | 'parameters'>

/** Maximum number of hits of a search. */
export const maxHits = 20

/** The objects of a meaning, or the reason why it can have none. */
type LookUpResult = readonly Found[] | Nothing

/** Looks up a meaning, with one index lookup for each kind of object that it may denote. */
export function lookUp(deps: SearchDeps, meaning: Meaning): Promise<LookUpResult> {
  // The compiler cannot infer that the function and `meaning` belong to the same kind.
  const read: (deps: SearchDeps, meaning: never) => Promise<LookUpResult> = lookUps[meaning.by]
  return read(deps, meaning as never)
}

type LookUps = {
  readonly [M in Meaning as M['by']]: (deps: SearchDeps, meaning: M) => Promise<LookUpResult>
}

const lookUps: LookUps = {
  BLOCK_ID: async (deps, { id }) => {
    const block = (await readBlocks(deps, [id])).get(id)
    if (block === undefined) return []
    return block.ok ? [{ kind: 'BLOCK', thing: block.value }] : notServed(block.error)
  },
  TRANSACTION_ID: async (deps, { id }) => {
    const found = (await readTransactions(deps, [id])).get(id)
    if (found === undefined) return []
    return found.ok ? [{ kind: 'TRANSACTION', thing: found.value }] : notServed(found.error)
  },
  COMMITMENT_ID: (deps, { id }) => milestonesIn(deps, { from: id, to: id }),
  OUTPUT_ID: async (deps, { id }) => {
    const outputs = await readOutputs(deps, [id])
    return outputs.map((thing) => ({ kind: 'OUTPUT', thing }))
  },
  CHAIN_ID: (deps, { id }) => chains(deps, [id]),
  BECH32: async (deps, { key, hrp }) => {
    const { bech32Hrp: expected } = deps.parameters
    if (hrp !== expected) {
      const sentence = `the address belongs to network ${hrp}, not to ${expected}`
      return { reason: 'OTHER_NETWORK', sentence }
    }
    // The chain of the address is the first hit. Unused addresses are hits too.
    return [...(await chainOfAddress(deps, key)), { kind: 'ADDRESS', thing: key }]
  },
  CHAIN_RECORD: async ({ store }, { chainId }) => {
    const record = await store.read.chainRecord(chainId)
    return record === undefined ? [] : [{ kind: 'CHAIN_RECORD', thing: record }]
  },
  ADDRESS_BYTES: (deps, { keys }) => usedAddresses(deps, keys),
  PUBLIC_KEY_HASH: (deps, { keys }) => usedAddresses(deps, keys),
  PUBLIC_KEY: (deps, { keys }) => usedAddresses(deps, keys),
  MILESTONE_INDEX: (deps, { index }) => milestone(deps, index),
  TIME: async (deps, { nanoseconds }) => {
    const slot = slotOfTime(deps.parameters, nanoseconds)
    if (slot > deps.parameters.genesisSlot) return await milestone(deps, slot)
    return { reason: 'BEFORE_GENESIS', sentence: 'the time is before the start of the network' }
  },
  ID_BEGINNING: beginningWith,
  TAG: async ({ store }, { tag }) => {
    const filter = { asOf: 'COMMITTED', keys: [{ kind: 'TAG', value: tag }] } as const
    const rows = await store.read.unspentOutputs({ filter, limit: maxHits })
    return rows.map((row) => ({ kind: 'OUTPUT', thing: viewOfOutput(row) }))
  },
}

function notServed({ code, what }: NotServedByNode): Nothing {
  const sentences = {
    NOT_TOLD_BY_NODE: 'the upstream node does not respond now',
    NOT_KEPT_BY_NODE: `the upstream node does not have ${what}`,
  }
  return { reason: code, sentence: sentences[code] }
}

async function chains(deps: SearchDeps, ids: readonly Hex[]): Promise<Found[]> {
  const known = await readChains(deps, ids)
  return ids.flatMap((id) => {
    const chain = known.get(id)
    return chain === undefined ? [] : [foundChain(chain)]
  })
}

function foundChain(chain: ChainView): Found {
  return { kind: kindNames[chain.kind], thing: chain }
}

const kindNames = {
  [chainKinds.ACCOUNT]: 'ACCOUNT',
  [chainKinds.ANCHOR]: 'ANCHOR',
  [chainKinds.FOUNDRY]: 'TOKEN',
  [chainKinds.NFT]: 'NFT',
  [chainKinds.DELEGATION]: 'DELEGATION',
} as const

/** The account, anchor or NFT that has an address. */
async function chainOfAddress(deps: SearchDeps, key: Hex): Promise<Found[]> {
  const chain = await readChainOfAddress(deps, key)
  return chain === undefined ? [] : [foundChain(chain)]
}

/** Selects the addresses that have updates in the log. */
async function usedAddresses({ store }: SearchDeps, keys: readonly Hex[]): Promise<Found[]> {
  const isUsed = async (key: Hex) => {
    const tips = updateClasses.map((one) => store.read.addressTip(key, one))
    return (await Promise.all(tips)).some(({ ordinal }) => ordinal > 0)
  }
  const used = await Promise.all(keys.map(isUsed))
  return keys.filter((_, i) => used[i]).map((key) => ({ kind: 'ADDRESS', thing: key }))
}

async function milestone(deps: SearchDeps, index: number): Promise<LookUpResult> {
  const found = await readMilestone(deps, index)
  if (found !== undefined) return [{ kind: 'MILESTONE', thing: found }]
  if (index < deps.parameters.genesisSlot) {
    return { reason: 'BEFORE_GENESIS', sentence: 'the slot is before the start of the network' }
  }
  const { slot } = await deps.store.read.latestMilestone()
  if (index < slot) {
    const sentence = `milestone ${index} is not stored, because the ledger began with a later snapshot`
    return { reason: 'UNKNOWN', sentence }
  }
  const sentence = `milestone ${index} is not committed yet; the newest is ${slot}`
  return { reason: 'NOT_COMMITTED', sentence }
}

interface Beginning {
  readonly from: Hex
  readonly to: Hex
}

/** Finds objects by the beginning of their ids. Outputs of a transaction that is itself a hit are left out. */
async function beginningWith(deps: SearchDeps, { from, to }: Beginning): Promise<Found[]> {
  const { read } = deps.store
  const range = { from, to, limit: maxHits }
  const [blocks, rows, milestones, chainIds, outputs] = await Promise.all([
    read.blocksWithin(range),
    read.transactionsWithin(range),
    milestonesIn(deps, { from, to }),
    read.chainIdsWithin(range),
    read.outputsWithin(range),
  ])
  const known = new Set(rows.map(({ transactionId }) => transactionId))
  return [
    ...blocks.map((row) => ({ kind: 'BLOCK', thing: viewOfBlock(row) }) as const),
    ...rows.map((row) => ({ kind: 'TRANSACTION', thing: outcomeOf(row) }) as const),
    ...milestones,
    ...(await chains(deps, chainIds)),
    ...outputs
      .filter(({ outputId }) => !known.has(transactionOf(outputId)))
      .map((row) => ({ kind: 'OUTPUT', thing: viewOfOutput(row) }) as const),
  ]
}

async function milestonesIn({ store, parameters }: SearchDeps, range: Beginning): Promise<Found[]> {
  const rows = await store.read.milestonesWithin({ ...range, limit: maxHits })
  if (rows.length === 0) return []
  const { logId } = await store.read.logTip()
  return rows.map((row) => ({
    kind: 'MILESTONE',
    thing: milestoneView({ parameters, logId }, row),
  }))
}
