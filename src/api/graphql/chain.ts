import { present } from '../../lib/assert.ts'
import { transactionOf } from '../../protocol/ids.ts'
import {
  type ChainHistory,
  type ChainState,
  listChainStates,
} from '../../service/chains/chain-history.ts'
import { issuerOfChain } from '../../service/chains/chain-parts.ts'
import { type ChainView, chainKinds } from '../../service/chains/read-chain.ts'
import { outputLife } from '../../service/outputs/output-life.ts'
import { orThrow } from '../errors.ts'
import { type AddressView, viewOfKey } from './address-node.ts'
import { builder } from './builder.ts'
import { connection } from './connection.ts'
import { listArgs } from './lists.ts'
import { chainInBatch, milestoneInBatch, outputInBatch, transactionInBatch } from './loaders.ts'
import { Milestone } from './milestone.ts'
import { OutputNode } from './output.ts'
import { free, listCost, reads } from './prices.ts'
import { TransactionNode } from './transaction.ts'

/** What accounts, anchors, tokens, NFTs and delegations have in common, and their history. */

/** One thing that is read by its key. */
const one = reads(1)

const ChainStateType = builder.objectRef<ChainState>('ChainState').implement({
  description: 'A state of a chain: an output that was or is the chain.',
  fields: (t) => ({
    number: t.expose('ordinal', {
      type: 'UInt64',
      description: 'Its place among all states of the chain: 1, 2, 3 ….',
    }),
    outputId: t.expose('outputId', { type: 'OutputId', description: 'The id of the output.' }),
    output: t.field({
      type: OutputNode,
      nullable: true,
      complexity: one,
      description: 'The output.',
      resolve: ({ outputId }, _args, context) => outputInBatch(context, outputId),
    }),
    transactionId: t.field({
      type: 'TransactionId',
      description: 'The id of the transaction that made this state.',
      resolve: ({ outputId }) => transactionOf(outputId),
    }),
    transaction: t.field({
      type: TransactionNode,
      nullable: true,
      complexity: reads(2),
      description:
        'The transaction that made this state; null, with an error, where an upstream node does not give it.',
      resolve: ({ outputId }, _args, context) =>
        transactionInBatch(context, transactionOf(outputId)),
    }),
    milestoneIndex: t.expose('bookedSlot', {
      type: 'UInt32',
      description: 'The milestone from which on the chain was in this state.',
    }),
    milestone: t.field({
      type: Milestone,
      nullable: true,
      complexity: reads(2),
      description: 'That milestone.',
      resolve: ({ bookedSlot }, _args, context) => milestoneInBatch(context, bookedSlot),
    }),
  }),
})

const ChainStateConnection = connection<ChainState, ChainHistory>('ChainState', ChainStateType, {
  description: 'States of a chain.',
  edgeDescription: 'A state and its cursor.',
})

builder.objectField(ChainStateConnection, 'totalCount', (t) =>
  t.field({
    type: 'UInt64',
    description: 'How many states the chain has had in all.',
    resolve: ({ totalCount }) => totalCount,
  }),
)

/** The names of the types. */
const typeNames: { readonly [K in ChainView['kind']]: string } = {
  [chainKinds.ACCOUNT]: 'Account',
  [chainKinds.ANCHOR]: 'Anchor',
  [chainKinds.FOUNDRY]: 'Token',
  [chainKinds.NFT]: 'Nft',
  [chainKinds.DELEGATION]: 'Delegation',
}

/** A chain of any kind. */
export const Chain = builder.interfaceRef<ChainView>('Chain').implement({
  description:
    'An account, anchor, token, NFT or delegation: a thing that lives on from one output to the next.',
  resolveType: ({ kind }) => typeNames[kind],
  fields: (t) => ({
    chainId: t.expose('chainId', {
      type: 'Hex',
      description: 'The id of the chain: 32 bytes, of a token the 38 of its foundry.',
    }),
    output: t.expose('current', {
      complexity: free,
      type: OutputNode,
      nullable: true,
      description: 'The unspent output that it is now; null when it is destroyed.',
    }),
    lastOutput: t.expose('last', {
      complexity: free,
      type: OutputNode,
      nullable: true,
      description:
        'The newest output that it was; null for an account that was given something before it exists.',
    }),
    isDestroyed: t.boolean({
      description: 'Whether its last output was spent without another in its place.',
      resolve: isDestroyed,
    }),
    destroyedSlot: t.field({
      type: 'UInt32',
      nullable: true,
      description: 'The slot in which it was destroyed; null while it is there.',
      resolve: (chain) => (isDestroyed(chain) ? chain.last?.spentSlot : null),
    }),
    destroyedBy: t.field({
      type: 'TransactionId',
      nullable: true,
      description:
        'The transaction that destroyed it; null while it is there, and, with an error, where an upstream node does not give it.',
      resolve: async (chain, _args, { services }) =>
        chain.last !== undefined && isDestroyed(chain)
          ? orThrow(await outputLife(services, chain.last)).spentBy
          : null,
    }),
    history: t.field({
      type: ChainStateConnection,
      complexity: listCost,
      description:
        'Its states, also when it is destroyed and when the log is pruned, as of the newest milestone.',
      args: listArgs,
      resolve: async ({ chainId, length }, args, context) => {
        const known = length ?? (await chainInBatch(context, chainId))?.length
        const chain = { chainId, length: present(known, chainId) }
        return orThrow(await listChainStates(context.services, chain, args))
      },
    }),
  }),
})

function isDestroyed({ last, current }: ChainView): boolean {
  return last !== undefined && current === undefined
}

/** The address that issued a chain; `undefined` for none. */
export function issuerAddress(chain: ChainView): AddressView | undefined {
  const key = issuerOfChain(chain)
  return key && viewOfKey(key)
}
