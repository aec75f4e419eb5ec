import type { FieldRef } from '@pothos/core'
import { present } from '../../../lib/assert.ts'
import { transactionOf } from '../../../protocol/ids.ts'
import {
  type ChainHistory,
  type ChainState,
  listChainStates,
} from '../../../service/chains/chain-history.ts'
import { issuerOfChain } from '../../../service/chains/chain-parts.ts'
import { type ChainView, chainKinds } from '../../../service/chains/read-chain.ts'
import { outputProvenance } from '../../../service/outputs/output-provenance.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder } from '../builder.ts'
import { connection } from '../connection.ts'
import { exposed } from '../declare.ts'
import { free, listCost, reads } from '../execution/prices.ts'
import { listArgs } from '../lists.ts'
import { chainInBatch, loggedTransaction, outputInBatch } from '../loaders.ts'
import { type AddressView, viewOfKey } from './address-node.ts'
import { milestoneField } from './milestone.ts'
import { OutputNode } from './output.ts'
import { TransactionNode } from './transaction.ts'

/** The interface of accounts, anchors, tokens, NFTs and delegations, and their history. */

const ChainStateType = builder.objectRef<ChainState>('ChainState').implement({
  description: 'A state of a chain: an output that is or was the chain.',
  fields: (t) => ({
    number: t.expose('ordinal', {
      type: 'UInt64',
      description: 'The number of the state among all states of the chain, starting at 1.',
    }),
    ...exposed(t, 'OutputId', { outputId: 'The id of the output.' }),
    output: t.field({
      type: OutputNode,
      nullable: true,
      complexity: reads(1),
      description: 'The output of the state. Null if it is not known.',
      resolve: ({ outputId }, _args, context) => outputInBatch(context, outputId),
    }),
    transactionId: t.field({
      type: 'TransactionId',
      description: 'The id of the transaction that created the state.',
      resolve: ({ outputId }) => transactionOf(outputId),
    }),
    transaction: t.field({
      type: TransactionNode,
      nullable: true,
      complexity: reads(2),
      description:
        'The transaction that created the state. Null with an error if an upstream node does not provide it.',
      resolve: ({ outputId }, _args, context) =>
        loggedTransaction(context, transactionOf(outputId)),
    }),
    milestoneIndex: t.expose('bookedSlot', {
      type: 'UInt32',
      description: 'The index of the first milestone in which the chain had this state.',
    }),
    milestone: milestoneField(
      t,
      'The first milestone in which the chain had this state. Null if it is not known.',
      ({ bookedSlot }) => bookedSlot,
      reads(2),
    ),
  }),
})

const ChainStateConnection = connection<ChainState, ChainHistory>('ChainState', ChainStateType, {
  description: 'A page of the states of a chain.',
  edgeDescription: 'A state and its cursor.',
})

builder.objectField(ChainStateConnection, 'totalCount', (t) =>
  t.field({
    type: 'UInt64',
    description: 'The total number of states of the chain.',
    resolve: ({ totalCount }) => totalCount,
  }),
)

const typeNames: { readonly [K in ChainView['kind']]: string } = {
  [chainKinds.ACCOUNT]: 'Account',
  [chainKinds.ANCHOR]: 'Anchor',
  [chainKinds.FOUNDRY]: 'Token',
  [chainKinds.NFT]: 'Nft',
  [chainKinds.DELEGATION]: 'Delegation',
}

export const Chain = builder.interfaceRef<ChainView>('Chain').implement({
  description:
    'A chain: an account, anchor, token, NFT or delegation. It is a sequence of outputs, each of which is a state of the chain.',
  interfaces: [builder.nodeInterfaceRef()],
  resolveType: ({ kind }) => typeNames[kind],
  fields: (t) => ({
    ...exposed(t, 'Hex', {
      chainId: 'The id of the chain: 32 bytes, or the 38 bytes of the foundry id for a token.',
    }),
    output: t.expose('current', {
      complexity: free,
      type: OutputNode,
      nullable: true,
      description:
        'The unspent output that holds the current state. Null if the chain is destroyed.',
    }),
    lastOutput: t.expose('last', {
      complexity: free,
      type: OutputNode,
      nullable: true,
      description:
        'The output of the newest state. Null for an account that has received an output before it exists.',
    }),
    isDestroyed: t.boolean({
      description: 'Whether the last output of the chain was spent without a successor.',
      resolve: isDestroyed,
    }),
    destroyedSlot: t.field({
      type: 'UInt32',
      nullable: true,
      description:
        'The index of the slot in which the chain was destroyed. Null if it is not destroyed.',
      resolve: (chain) => (isDestroyed(chain) ? chain.last?.spentSlot : null),
    }),
    destroyedBy: t.field({
      type: 'TransactionId',
      nullable: true,
      description:
        'The id of the transaction that destroyed the chain. Null if it is not destroyed. Null with an error if an upstream node does not provide it.',
      resolve: async (chain, _args, { services }) =>
        chain.last !== undefined && isDestroyed(chain)
          ? orThrow(await outputProvenance(services, chain.last)).spentBy
          : null,
    }),
    history: t.field({
      type: ChainStateConnection,
      complexity: listCost,
      description:
        'A list of the states of the chain as of the newest milestone, ordered by number. It is complete even if the chain is destroyed or the log is pruned, but a ledger that began with a snapshot lacks the former states before it.',
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

type Types = typeof builder.$inferSchemaTypes

/** Declares the field for the id of a chain of one kind. */
export function chainIdField<Parent extends ChainView>(
  t: PothosSchemaTypes.FieldBuilder<Types, Parent>,
  type: 'AccountId' | 'AnchorId' | 'DelegationId' | 'FoundryId' | 'NftId',
  description: string,
): FieldRef<Types> {
  const resolve = ({ chainId }: Parent) => chainId
  return t.field({ type, description, resolve } as never)
}

/** Returns the address that issued a chain; `undefined` if there is none. */
export function issuerAddress(chain: ChainView): AddressView | undefined {
  const key = issuerOfChain(chain)
  return key && viewOfKey(key)
}
