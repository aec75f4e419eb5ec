import type { Hex } from '../../lib/hex.ts'
import { AccountAddress, AnchorAddress, NftAddress } from '../../protocol/addresses.ts'
import type {
  AccountId,
  AnchorId,
  DelegationId,
  FoundryId,
  NftId,
} from '../../protocol/primitives.ts'
import { addressText } from '../../service/addresses/address-text.ts'
import { readChainRecord } from '../../service/chain-records/chain-records.ts'
import {
  anchorParts,
  delegationParts,
  immutableMetadataOf,
  ownerOfChain,
  tokenParts,
} from '../../service/chains/chain-parts.ts'
import { type ChainView, chainKinds } from '../../service/chains/read-chain.ts'
import { orThrow } from '../errors.ts'
import { AccountNode, accountInBatch } from './account.ts'
import { AddressNode, type AddressView, viewOfAddress, viewOfKey } from './address-node.ts'
import { builder, type GatewayContext } from './builder.ts'
import { Chain, issuerAddress } from './chain.ts'
import { ChainRecord } from './chain-records.ts'
import { byProtocolId } from './load-node.ts'
import { chainInBatch } from './loaders.ts'
import { MetadataType, StateMetadataType } from './model.ts'
import { free, reads } from './prices.ts'

/** Anchors, NFTs, tokens and delegations. */

const one = reads(1)

function chainNode(name: string, kind: ChainView['kind'], bytes: number) {
  return builder.nodeRef<ChainView>(name, {
    id: { resolve: ({ chainId }) => chainId },
    loadOne: byProtocolId(bytes, (context, id) => chainOfKind(context, kind, id)),
  })
}

async function chainOfKind(
  context: GatewayContext,
  kind: ChainView['kind'],
  id: Hex | undefined,
): Promise<ChainView | undefined> {
  const chain = id && (await chainInBatch(context, id))
  return chain?.kind === kind ? chain : undefined
}

/** A chain by its id is three reads. */
const chainCost = reads(3)

/** An anchor. */
export const AnchorNode = chainNode('Anchor', chainKinds.ANCHOR, 32)

AnchorNode.implement({
  description: 'An anchor: a chain with a state controller and a governor.',
  interfaces: [Chain],
  fields: (t) => ({
    anchorId: t.field({
      type: 'AnchorId',
      description: 'The id of the anchor.',
      resolve: ({ chainId }) => chainId as AnchorId,
    }),
    stateIndex: t.field({
      type: 'UInt32',
      description: 'How often its state controller has changed its state.',
      resolve: (chain) => anchorParts(chain).stateIndex,
    }),
    stateController: t.field({
      complexity: free,
      type: AddressNode,
      description: 'The address that changes its state.',
      resolve: (chain) => viewOfKey(anchorParts(chain).stateController),
    }),
    governor: t.field({
      complexity: free,
      type: AddressNode,
      description: 'The address that chooses the two, and may destroy the anchor.',
      resolve: (chain) => viewOfKey(anchorParts(chain).governor),
    }),
    stateMetadata: t.field({
      complexity: free,
      type: StateMetadataType,
      nullable: true,
      description: 'The metadata of its state; null for none.',
      resolve: (chain) => anchorParts(chain).stateMetadata,
    }),
  }),
})

/** An NFT. */
export const NftNode = chainNode('Nft', chainKinds.NFT, 32)

NftNode.implement({
  description: 'An NFT.',
  interfaces: [Chain],
  fields: (t) => ({
    nftId: t.field({
      type: 'NftId',
      description: 'The id of the NFT.',
      resolve: ({ chainId }) => chainId as NftId,
    }),
    owner: t.field({
      complexity: free,
      type: AddressNode,
      description:
        'The address that owns it as of the newest milestone, once it has expired the return address; of a destroyed one who owned it last.',
      resolve: (chain, _args, { services }) => viewOfKey(ownerOfChain(services, chain)),
    }),
  }),
})

/** A native token. */
export const TokenNode = chainNode('Token', chainKinds.FOUNDRY, 38)

TokenNode.implement({
  description: 'A native token, by the foundry that mints it.',
  interfaces: [Chain],
  fields: (t) => ({
    tokenId: t.field({
      type: 'FoundryId',
      description: 'The id of the token, which is that of its foundry.',
      resolve: ({ chainId }) => chainId as FoundryId,
    }),
    accountId: t.field({
      type: 'AccountId',
      description: 'The id of the account that mints and melts it.',
      resolve: (chain) => tokenParts(chain).accountId,
    }),
    account: t.field({
      type: AccountNode,
      nullable: true,
      complexity: chainCost,
      description: 'The account that mints and melts it.',
      resolve: (chain, _args, context) => accountInBatch(context, tokenParts(chain).accountId),
    }),
    serialNumber: t.field({
      type: 'UInt32',
      description: 'The number of the foundry within its account, above 0.',
      resolve: (chain) => tokenParts(chain).serialNumber,
    }),
    mintedTokens: t.field({
      type: 'UInt256',
      description: 'How many were minted so far.',
      resolve: (chain) => tokenParts(chain).minted,
    }),
    meltedTokens: t.field({
      type: 'UInt256',
      description: 'How many were melted so far by the foundry.',
      resolve: (chain) => tokenParts(chain).melted,
    }),
    maximumSupply: t.field({
      type: 'UInt256',
      description: 'The bound of minted less melted ones.',
      resolve: (chain) => tokenParts(chain).maximum,
    }),
    circulatingSupply: t.field({
      type: 'UInt256',
      description:
        'Minted less melted ones; 0 when the foundry is destroyed. What was burned without the foundry is still counted.',
      resolve: (chain) => tokenParts(chain).circulating,
    }),
  }),
})

/** A delegation. */
export const DelegationNode = chainNode('Delegation', chainKinds.DELEGATION, 32)

DelegationNode.implement({
  description: 'Base tokens that are delegated to a validator.',
  interfaces: [Chain],
  fields: (t) => ({
    delegationId: t.field({
      type: 'DelegationId',
      description: 'The id of the delegation.',
      resolve: ({ chainId }) => chainId as DelegationId,
    }),
    owner: t.field({
      complexity: free,
      type: AddressNode,
      description: 'The address that owns it; of one that is over, who owned it last.',
      resolve: (chain, _args, { services }) => viewOfKey(ownerOfChain(services, chain)),
    }),
    validatorId: t.field({
      type: 'AccountId',
      description: 'The id of the account of the validator.',
      resolve: (chain) => delegationParts(chain).validatorId,
    }),
    validatorAccount: t.field({
      type: AccountNode,
      nullable: true,
      complexity: chainCost,
      description: 'The account of the validator.',
      resolve: (chain, _args, context) =>
        accountInBatch(context, delegationParts(chain).validatorId),
    }),
    delegatedAmount: t.field({
      type: 'UInt64',
      description: 'The base tokens that are delegated.',
      resolve: (chain) => delegationParts(chain).delegatedAmount,
    }),
    startEpoch: t.field({
      type: 'UInt32',
      description: 'The first epoch in which they are.',
      resolve: (chain) => delegationParts(chain).startEpoch,
    }),
    endEpoch: t.field({
      type: 'UInt32',
      nullable: true,
      description: 'The last epoch in which they are; null while it goes on.',
      resolve: (chain) => delegationParts(chain).endEpoch,
    }),
  }),
})

for (const node of [AccountNode, AnchorNode, NftNode]) {
  builder.objectFields(node, (t) => ({
    address: t.field({
      complexity: free,
      type: AddressNode,
      description: 'Its address, and what that owns.',
      resolve: addressOfChain,
    }),
    issuer: t.field({
      complexity: free,
      type: AddressNode,
      nullable: true,
      description: 'The address that issued it, which never changes; null for none.',
      resolve: issuerAddress,
    }),
  }))
}

for (const node of [AccountNode, AnchorNode, NftNode, TokenNode]) {
  builder.objectField(node, 'immutableMetadata', (t) =>
    t.field({
      complexity: free,
      type: MetadataType,
      nullable: true,
      description: 'The metadata that never change; null for none.',
      resolve: immutableMetadataOf,
    }),
  )
}

for (const node of [AccountNode, AnchorNode]) {
  builder.objectField(node, 'chainRecord', (t) =>
    t.field({
      type: ChainRecord,
      nullable: true,
      complexity: one,
      description: 'The chain record under its address on this network; null when none was set.',
      resolve: async (chain, _args, { services }) => {
        const text = addressText(services.parameters.bech32Hrp, addressOfChain(chain).key)
        return orThrow(await readChainRecord(services, text))
      },
    }),
  )
}

/** The address of a chain that has one: no token and no delegation has. */
function addressOfChain({ kind, chainId }: ChainView): AddressView {
  if (kind === chainKinds.ACCOUNT) {
    return viewOfAddress({ type: AccountAddress.code, accountId: chainId as AccountId })
  }
  if (kind === chainKinds.ANCHOR) {
    return viewOfAddress({ type: AnchorAddress.code, anchorId: chainId as AnchorId })
  }
  return viewOfAddress({ type: NftAddress.code, nftId: chainId as NftId })
}

builder.queryFields((t) => ({
  anchor: t.field({
    type: AnchorNode,
    nullable: true,
    complexity: chainCost,
    description: 'An anchor, also one that is destroyed; null when it is not known.',
    args: { id: t.arg({ type: 'AnchorId', required: true, description: 'Its id.' }) },
    resolve: (_root, { id }, context) => chainOfKind(context, chainKinds.ANCHOR, id),
  }),
  nft: t.field({
    type: NftNode,
    nullable: true,
    complexity: chainCost,
    description: 'An NFT, also one that is destroyed; null when it is not known.',
    args: { id: t.arg({ type: 'NftId', required: true, description: 'Its id.' }) },
    resolve: (_root, { id }, context) => chainOfKind(context, chainKinds.NFT, id),
  }),
  token: t.field({
    type: TokenNode,
    nullable: true,
    complexity: chainCost,
    description: 'A native token, also one whose foundry is destroyed; null when it is not known.',
    args: {
      id: t.arg({ type: 'FoundryId', required: true, description: 'The id of its foundry.' }),
    },
    resolve: (_root, { id }, context) => chainOfKind(context, chainKinds.FOUNDRY, id),
  }),
  delegation: t.field({
    type: DelegationNode,
    nullable: true,
    complexity: chainCost,
    description: 'A delegation, also one that is over; null when it is not known.',
    args: { id: t.arg({ type: 'DelegationId', required: true, description: 'Its id.' }) },
    resolve: (_root, { id }, context) => chainOfKind(context, chainKinds.DELEGATION, id),
  }),
}))
