import type { Hex } from '../../../lib/hex.ts'
import { AccountAddress, AnchorAddress, NftAddress } from '../../../protocol/addresses.ts'
import type { AccountId, AnchorId, NftId } from '../../../protocol/primitives.ts'
import { addressText } from '../../../service/addresses/address-text.ts'
import { readChainRecord } from '../../../service/chain-records/chain-records.ts'
import {
  anchorParts,
  delegationParts,
  immutableMetadataOf,
  ownerOfChain,
  tokenParts,
} from '../../../service/chains/chain-parts.ts'
import { type ChainView, chainKinds } from '../../../service/chains/read-chain.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder, type GatewayContext } from '../builder.ts'
import { exposedOf } from '../declare.ts'
import { chainCost, free, reads } from '../execution/prices.ts'
import { idArgs } from '../id-args.ts'
import { byProtocolId } from '../load-node.ts'
import { chainInBatch } from '../loaders.ts'
import { MetadataType, StateMetadataType } from '../model/model.ts'
import { AccountNode, accountField } from './account.ts'
import { AddressNode, type AddressView, addressField, viewOfAddress } from './address-node.ts'
import { Chain, chainIdField, issuerAddress } from './chain.ts'
import { ChainRecord } from './chain-records.ts'

/** Anchors, NFTs, tokens and delegations. */

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

export const AnchorNode = chainNode('Anchor', chainKinds.ANCHOR, 32)

AnchorNode.implement({
  description: 'An anchor: a chain that has a state controller and a governor.',
  interfaces: [Chain],
  fields: (t) => ({
    anchorId: chainIdField(t, 'AnchorId', 'The id of the anchor.'),
    ...exposedOf(t, anchorParts, 'UInt32', {
      stateIndex: 'The number of times the state controller has changed the state of the anchor.',
    }),
    stateController: addressField(
      t,
      'The address that may change the state of the anchor.',
      (chain) => anchorParts(chain).stateController,
    ),
    governor: addressField(
      t,
      'The address that may replace the state controller and the governor, and may destroy the anchor.',
      (chain) => anchorParts(chain).governor,
    ),
    stateMetadata: t.field({
      complexity: free,
      type: StateMetadataType,
      nullable: true,
      description: 'The state metadata of the anchor. Null if the anchor has none.',
      resolve: (chain) => anchorParts(chain).stateMetadata,
    }),
  }),
})

export const NftNode = chainNode('Nft', chainKinds.NFT, 32)

NftNode.implement({
  description: 'A non-fungible token (NFT).',
  interfaces: [Chain],
  fields: (t) => ({
    nftId: chainIdField(t, 'NftId', 'The id of the NFT.'),
    owner: addressField(
      t,
      'The address that owns the NFT as of the newest milestone: the return address if the NFT has expired, or the last owner if the NFT is destroyed.',
      (chain, services) => ownerOfChain(services, chain),
    ),
  }),
})

export const TokenNode = chainNode('Token', chainKinds.FOUNDRY, 38)

TokenNode.implement({
  description: 'A native token, identified by the foundry that mints it.',
  interfaces: [Chain],
  fields: (t) => ({
    tokenId: chainIdField(
      t,
      'FoundryId',
      'The id of the token, which equals the id of its foundry.',
    ),
    ...exposedOf(t, tokenParts, 'AccountId', {
      accountId: 'The id of the account that controls the foundry of the token.',
    }),
    account: accountField(
      t,
      'The account that controls the foundry of the token. Null if the account is not known.',
      (chain) => tokenParts(chain).accountId,
    ),
    ...exposedOf(t, tokenParts, 'UInt32', {
      serialNumber: 'The serial number of the foundry within its account, at least 1.',
    }),
    ...exposedOf(t, tokenParts, 'UInt256', {
      mintedTokens: 'The number of tokens that the foundry has minted.',
      meltedTokens: 'The number of tokens that the foundry has melted.',
      maximumSupply: 'The maximum of minted minus melted tokens.',
      circulatingSupply:
        'The number of minted minus melted tokens, or 0 if the foundry is destroyed. Tokens that were burned without the foundry are included.',
    }),
  }),
})

export const DelegationNode = chainNode('Delegation', chainKinds.DELEGATION, 32)

DelegationNode.implement({
  description: 'A delegation of base tokens to a validator.',
  interfaces: [Chain],
  fields: (t) => ({
    delegationId: chainIdField(t, 'DelegationId', 'The id of the delegation.'),
    owner: addressField(
      t,
      'The address that owns the delegation, or its last owner if the delegation has ended.',
      (chain, services) => ownerOfChain(services, chain),
    ),
    ...exposedOf(t, delegationParts, 'AccountId', {
      validatorId: 'The account id of the validator.',
    }),
    validatorAccount: accountField(
      t,
      'The account of the validator. Null if the account is not known.',
      (chain) => delegationParts(chain).validatorId,
    ),
    ...exposedOf(t, delegationParts, 'UInt64', {
      delegatedAmount: 'The number of delegated base tokens, in the smallest unit.',
    }),
    ...exposedOf(t, delegationParts, 'UInt32', {
      startEpoch: 'The first epoch in which the tokens are delegated.',
    }),
    endEpoch: t.field({
      type: 'UInt32',
      nullable: true,
      description:
        'The last epoch in which the tokens are delegated. Null while the delegation continues.',
      resolve: (chain) => delegationParts(chain).endEpoch,
    }),
  }),
})

for (const node of [AccountNode, AnchorNode, NftNode]) {
  builder.objectFields(node, (t) => ({
    address: t.field({
      complexity: free,
      type: AddressNode,
      description: 'The address that belongs to the chain. It can own outputs.',
      resolve: addressOfChain,
    }),
    issuer: t.field({
      complexity: free,
      type: AddressNode,
      nullable: true,
      description: 'The address that issued the chain. It never changes. Null if there is none.',
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
      description: 'The immutable metadata of the chain. Null if there are none.',
      resolve: immutableMetadataOf,
    }),
  )
}

for (const node of [AccountNode, AnchorNode]) {
  builder.objectField(node, 'chainRecord', (t) =>
    t.field({
      type: ChainRecord,
      nullable: true,
      complexity: reads(1),
      description:
        'The chain record of the address of the chain on this network. Null if none was set.',
      resolve: async (chain, _args, { services }) => {
        const text = addressText(services.parameters.bech32Hrp, addressOfChain(chain).key)
        return orThrow(await readChainRecord(services, text))
      },
    }),
  )
}

/** Returns the address of an account, anchor or NFT. Tokens and delegations have none. */
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
    description: 'The anchor with the given id, even if it is destroyed. Null if it is not known.',
    args: idArgs('AnchorId', 'anchor'),
    resolve: (_root, { id }, context) => chainOfKind(context, chainKinds.ANCHOR, id),
  }),
  nft: t.field({
    type: NftNode,
    nullable: true,
    complexity: chainCost,
    description: 'The NFT with the given id, even if it is destroyed. Null if it is not known.',
    args: idArgs('NftId', 'NFT'),
    resolve: (_root, { id }, context) => chainOfKind(context, chainKinds.NFT, id),
  }),
  token: t.field({
    type: TokenNode,
    nullable: true,
    complexity: chainCost,
    description:
      'The native token with the given foundry id, even if the foundry is destroyed. Null if it is not known.',
    args: idArgs('FoundryId', 'foundry'),
    resolve: (_root, { id }, context) => chainOfKind(context, chainKinds.FOUNDRY, id),
  }),
  delegation: t.field({
    type: DelegationNode,
    nullable: true,
    complexity: chainCost,
    description: 'The delegation with the given id, even if it has ended. Null if it is not known.',
    args: idArgs('DelegationId', 'delegation'),
    resolve: (_root, { id }, context) => chainOfKind(context, chainKinds.DELEGATION, id),
  }),
}))
