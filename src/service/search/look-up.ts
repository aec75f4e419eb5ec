import type { ChainKind } from '../../ledger/chain-states.ts'
import type { Hex } from '../../lib/hex.ts'
import { transactionOf } from '../../protocol/ids.ts'
import { slotOfTime } from '../../protocol/slots.ts'
import { type AccountView, accountOf } from '../accounts/read-account.ts'
import { type BlockView, readBlocks, viewOfBlock } from '../blocks/read-block.ts'
import { type ListedTransaction, outcomeOf, readTransactions } from '../blocks/read-transaction.ts'
import type { ChainRecordView } from '../chain-records/chain-records.ts'
import { type ChainView, chainKinds, readChainOfAddress, readChains } from '../chains/read-chain.ts'
import { type OutputView, readOutputs, viewOfOutput } from '../outputs/read-output.ts'
import type { Services } from '../services.ts'
import { type MilestoneView, milestoneView, readMilestone } from '../slots/read-milestone.ts'
import type { Meaning } from './meanings.ts'

/** What there is for each meaning of a text. */

/** Something that a text may mean. */
export type Found =
  | { readonly kind: 'BLOCK'; readonly thing: BlockView }
  | { readonly kind: 'TRANSACTION'; readonly thing: ListedTransaction }
  | { readonly kind: 'MILESTONE'; readonly thing: MilestoneView }
  | { readonly kind: 'OUTPUT'; readonly thing: OutputView }
  | { readonly kind: 'ACCOUNT'; readonly thing: AccountView }
  | { readonly kind: 'ANCHOR' | 'TOKEN' | 'NFT' | 'DELEGATION'; readonly thing: ChainView }
  /** By its key. */
  | { readonly kind: 'ADDRESS'; readonly thing: Hex }
  | { readonly kind: 'CHAIN_RECORD'; readonly thing: ChainRecordView }

/** Why nothing is found, in a word and in words. */
export interface Nothing {
  readonly reason:
    | 'UNKNOWN'
    | 'MALFORMED'
    | 'TOO_SHORT'
    | 'OTHER_NETWORK'
    | 'BEFORE_GENESIS'
    | 'NOT_COMMITTED'
    | 'NOT_TOLD_BY_NODE'
  readonly sentence: string
}

/** What the look-ups need. */
export type SearchDeps = Pick<Services, 'store' | 'source' | 'parameters'>

/** The most hits of a search. */
export const maxHits = 20

/** Things, or where the meaning itself says why there are none, that. */
type Answer = readonly Found[] | Nothing

/** The look-up of a meaning: one of an index, or one for each kind of thing that it may be. */
export function lookUp(deps: SearchDeps, meaning: Meaning): Promise<Answer> {
  // The compiler does not see that the two are of the same meaning.
  const one: (deps: SearchDeps, meaning: never) => Promise<Answer> = lookUps[meaning.by]
  return one(deps, meaning as never)
}

type LookUps = {
  readonly [M in Meaning as M['by']]: (deps: SearchDeps, meaning: M) => Promise<Answer>
}

const lookUps: LookUps = {
  BLOCK_ID: async (deps, { id }) => {
    const block = (await readBlocks(deps, [id])).get(id)
    if (block === undefined) return []
    return block.ok ? [{ kind: 'BLOCK', thing: block.value }] : notTold
  },
  TRANSACTION_ID: async (deps, { id }) => {
    const found = (await readTransactions(deps, [id])).get(id)
    if (found === undefined) return []
    return found.ok ? [{ kind: 'TRANSACTION', thing: found.value }] : notTold
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
      const sentence = `this is an address of the network ${hrp}, not of ${expected}`
      return { reason: 'OTHER_NETWORK', sentence }
    }
    // The address of a chain is that chain first. An unused address is one too.
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
    return { reason: 'BEFORE_GENESIS', sentence: 'this is a time before the network began' }
  },
  ID_BEGINNING: beginningWith,
  TAG: async ({ store }, { tag }) => {
    const filter = { asOf: 'COMMITTED', keys: [{ kind: 'TAG', value: tag }] } as const
    const rows = await store.read.unspentOutputs({ filter, limit: maxHits })
    return rows.map((row) => ({ kind: 'OUTPUT', thing: viewOfOutput(row) }))
  },
}

const notTold: Nothing = {
  reason: 'NOT_TOLD_BY_NODE',
  sentence: 'the upstream node cannot be asked for it now',
}

async function chains(deps: SearchDeps, ids: readonly Hex[]): Promise<Found[]> {
  const known = await readChains(deps, ids)
  return ids.flatMap((id) => {
    const chain = known.get(id)
    return chain === undefined ? [] : [foundChain(chain)]
  })
}

function foundChain(chain: ChainView): Found {
  const account = accountOf(chain)
  return account === undefined
    ? { kind: kindNames[chain.kind as Exclude<ChainKind, 1>], thing: chain }
    : { kind: 'ACCOUNT', thing: account }
}

const kindNames = {
  [chainKinds.ANCHOR]: 'ANCHOR',
  [chainKinds.FOUNDRY]: 'TOKEN',
  [chainKinds.NFT]: 'NFT',
  [chainKinds.DELEGATION]: 'DELEGATION',
} as const

/** An account, an anchor or an NFT is the address of its kind. */
async function chainOfAddress(deps: SearchDeps, key: Hex): Promise<Found[]> {
  const chain = await readChainOfAddress(deps, key)
  return chain === undefined ? [] : [foundChain(chain)]
}

/** Those of some addresses that the log knows. */
async function usedAddresses({ store }: SearchDeps, keys: readonly Hex[]): Promise<Found[]> {
  const isUsed = async (key: Hex) => {
    const tips = (['OWNED', 'MENTIONED'] as const).map((one) => store.read.addressTip(key, one))
    return (await Promise.all(tips)).some(({ ordinal }) => ordinal > 0)
  }
  const used = await Promise.all(keys.map(isUsed))
  return keys.filter((_, i) => used[i]).map((key) => ({ kind: 'ADDRESS', thing: key }))
}

async function milestone(deps: SearchDeps, index: number): Promise<Answer> {
  const found = await readMilestone(deps, index)
  if (found !== undefined) return [{ kind: 'MILESTONE', thing: found }]
  const { slot } = await deps.store.read.latestMilestone()
  if (index < slot) return { reason: 'BEFORE_GENESIS', sentence: 'the network began later' }
  return { reason: 'NOT_COMMITTED', sentence: `milestone ${index} is to come; ${slot} is newest` }
}

interface Beginning {
  readonly from: Hex
  readonly to: Hex
}

/** Blocks, transactions, milestones, chains and outputs; outputs of a transaction that begins so are left to that. */
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
