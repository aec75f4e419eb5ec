import type { Hex } from '../../../lib/hex.ts'
import { AccountAddress } from '../../../protocol/addresses.ts'
import { addressKey } from '../../../protocol/ids.ts'
import type { AccountId } from '../../../protocol/primitives.ts'
import { addressKeyOf } from '../../../service/addresses/address-key.ts'
import { tokenParts } from '../../../service/chains/chain-parts.ts'
import { type ChainsRequest, listChains } from '../../../service/chains/list-chains.ts'
import { chainKinds } from '../../../service/chains/read-chain.ts'
import { listTokenHolders, type TokenHolderView } from '../../../service/chains/token-holders.ts'
import type { Services } from '../../../service/services.ts'
import { orThrow } from '../../errors/errors.ts'
import { builder, type GatewayContext } from '../builder.ts'
import { exposed } from '../declare.ts'
import { listCost } from '../execution/prices.ts'
import { filterArg, listArgs, listConnection, pageArgs } from '../lists.ts'
import { AccountNode } from './account.ts'
import { AddressNode, addressField } from './address-node.ts'
import { AnchorNode, DelegationNode, NftNode, TokenNode } from './chain-kinds.ts'

/** Lists of chains that are not destroyed, and of the holders of a token. */

const order = 'ordered by their latest change as of the newest milestone'

const AccountConnection = listConnection('Account', AccountNode, `A page of accounts, ${order}.`, {
  edgeDescription: 'An account and its cursor.',
})

const AnchorConnection = listConnection('Anchor', AnchorNode, `A page of anchors, ${order}.`, {
  edgeDescription: 'An anchor and its cursor.',
})

const NftConnection = listConnection('Nft', NftNode, `A page of NFTs, ${order}.`, {
  edgeDescription: 'An NFT and its cursor.',
})

const TokenConnection = listConnection(
  'Token',
  TokenNode,
  `A page of native tokens whose foundries are not destroyed, ${order}.`,
  { edgeDescription: 'A token and its cursor.' },
)

export const DelegationConnection = listConnection(
  'Delegation',
  DelegationNode,
  `A page of delegations, ${order}.`,
  { edgeDescription: 'A delegation and its cursor.' },
)

const NftFilter = builder.inputType('NftFilter', {
  description: 'Conditions on NFTs. An NFT must meet all of them.',
  fields: (t) => ({
    issuer: t.string({
      description:
        'The issuer as Bech32 text of this network. NFTs of one issuer form a collection.',
    }),
  }),
})

const DelegationFilter = builder.inputType('DelegationFilter', {
  description: 'Conditions on delegations. A delegation must meet all of them.',
  fields: (t) => ({
    validator: t.field({ type: 'AccountId', description: 'The account id of the validator.' }),
    owner: t.string({ description: 'The owner as Bech32 text of this network.' }),
  }),
})

type Types = typeof builder.$inferSchemaTypes
type QueryFields = PothosSchemaTypes.QueryFieldBuilder<Types, Types['Root']>
type ChainConnection = typeof AnchorConnection
type Keys = NonNullable<ChainsRequest['keys']>

/** Returns the key of an address in a filter; `undefined` when the filter has none. */
function addressIn(
  { parameters }: Pick<Services, 'parameters'>,
  argument: string,
  text: string | null | undefined,
): Hex | undefined {
  return text == null ? undefined : orThrow(addressKeyOf(parameters.bech32Hrp, text, argument))
}

/** Returns the index keys of the delegations to an account. */
export function validatorKeys(accountId: AccountId): Keys {
  return [{ kind: 'VALIDATOR', value: addressKey({ type: AccountAddress.code, accountId }) }]
}

/** Reads a page of the chains of a kind. */
export async function chainsOf(
  { services }: GatewayContext,
  request: ChainsRequest,
  args: Parameters<typeof listChains>[2],
) {
  return orThrow(await listChains(services, request, args))
}

/** Declares a list of all chains of a kind. */
function allOf(t: QueryFields, type: ChainConnection, noun: string, kind: ChainsRequest['kind']) {
  return t.field({
    type,
    nullable: true,
    complexity: listCost,
    description: `A list of the ${noun}, ${order}.`,
    args: listArgs,
    resolve: (_root, args, context) => chainsOf(context, { kind }, args),
  })
}

builder.queryFields((t) => ({
  accounts: allOf(
    t,
    AccountConnection,
    'accounts that are not destroyed, without implicit accounts',
    chainKinds.ACCOUNT,
  ),
  anchors: allOf(t, AnchorConnection, 'anchors that are not destroyed', chainKinds.ANCHOR),
  tokens: allOf(
    t,
    TokenConnection,
    'native tokens whose foundries are not destroyed',
    chainKinds.FOUNDRY,
  ),
  nfts: t.field({
    type: NftConnection,
    nullable: true,
    complexity: listCost,
    description: `A list of the NFTs that are not destroyed, ${order}.`,
    args: { ...filterArg(NftFilter, 'NFTs'), ...listArgs },
    resolve: (_root, { filter, ...page }, context) => {
      const value = addressIn(context.services, 'filter.issuer', filter?.issuer)
      const keys = value === undefined ? [] : [{ kind: 'ISSUER', value } as const]
      return chainsOf(context, { kind: chainKinds.NFT, keys }, page)
    },
  }),
  delegations: t.field({
    type: DelegationConnection,
    nullable: true,
    complexity: listCost,
    description: `A list of the delegations that have not ended, ${order}.`,
    args: { ...filterArg(DelegationFilter, 'delegations'), ...listArgs },
    resolve: (_root, { filter, ...page }, context) => {
      const heldBy = addressIn(context.services, 'filter.owner', filter?.owner)
      const keys = filter?.validator == null ? [] : validatorKeys(filter.validator)
      return chainsOf(context, { kind: chainKinds.DELEGATION, keys, heldBy }, page)
    },
  }),
}))

builder.objectField(AccountNode, 'foundries', (t) =>
  t.field({
    type: TokenConnection,
    complexity: listCost,
    description: `A list of the native tokens whose foundries the account controls, ${order}.`,
    args: listArgs,
    resolve: ({ chainId }, args, context) => {
      const heldBy = addressKey({ type: AccountAddress.code, accountId: chainId as AccountId })
      return chainsOf(context, { kind: chainKinds.FOUNDRY, heldBy }, args)
    },
  }),
)

builder.objectFields(AddressNode, (t) => {
  const held = (type: ChainConnection, kind: ChainsRequest['kind'], description: string) =>
    t.field({
      type,
      complexity: listCost,
      description,
      args: listArgs,
      resolve: ({ key: heldBy }, args, context) => chainsOf(context, { kind, heldBy }, args),
    })
  return {
    nfts: held(
      NftConnection,
      chainKinds.NFT,
      `A list of the NFTs that the address owns, ${order}.`,
    ),
    foundries: held(
      TokenConnection,
      chainKinds.FOUNDRY,
      `A list of the native tokens whose foundries the address controls, ${order}. Empty unless it is the address of an account.`,
    ),
    delegations: held(
      DelegationConnection,
      chainKinds.DELEGATION,
      `A list of the delegations that the address owns, ${order}.`,
    ),
  }
})

const TokenHolder = builder.objectRef<TokenHolderView>('TokenHolder').implement({
  description: 'A holder of a native token.',
  fields: (t) => ({
    address: addressField(t, 'The address of the holder.', ({ address }) => address),
    amount: t.expose('total', {
      type: 'UInt256',
      description:
        'The number of tokens that the address owns, including timelocked and expiring tokens.',
    }),
    ...exposed(t, 'Float', {
      share: "The holder's fraction of the circulating supply, from 0 to 1.",
    }),
  }),
})

const TokenHolderConnection = listConnection(
  'TokenHolder',
  TokenHolder,
  'A page of the holders of a native token, the largest amount first.',
  { edgeDescription: 'A holder and its cursor.' },
)

builder.objectField(TokenNode, 'holders', (t) =>
  t.field({
    type: TokenHolderConnection,
    complexity: listCost,
    description:
      'A list of the holders of the token as of the newest milestone, the largest amount first.',
    args: pageArgs,
    resolve: async (chain, args, { services }) =>
      orThrow(await listTokenHolders(services, tokenParts(chain), args)),
  }),
)
