import { present } from '../../lib/assert.ts'
import type { Hex } from '../../lib/hex.ts'
import { AccountAddress } from '../../protocol/addresses.ts'
import { addressKey } from '../../protocol/ids.ts'
import type { AccountId } from '../../protocol/primitives.ts'
import { accountOf } from '../../service/accounts/read-account.ts'
import { addressKeyOf } from '../../service/addresses/address-key.ts'
import { tokenParts } from '../../service/chains/chain-parts.ts'
import { type ChainsQuestion, listChains } from '../../service/chains/list-chains.ts'
import { type ChainView, chainKinds } from '../../service/chains/read-chain.ts'
import { listTokenHolders, type TokenHolderView } from '../../service/chains/token-holders.ts'
import type { Services } from '../../service/services.ts'
import { orThrow } from '../errors.ts'
import { AccountNode } from './account.ts'
import { AddressNode, viewOfKey } from './address-node.ts'
import { builder, type GatewayContext } from './builder.ts'
import { AnchorNode, DelegationNode, NftNode, TokenNode } from './chain-kinds.ts'
import { listArgs, listConnection, pageArgs } from './lists.ts'
import { free, listCost } from './prices.ts'

/** Lists of chains that are not destroyed, and of who owns a token. */

const order = 'by when they changed last, as of the newest milestone'

const AccountConnection = listConnection('Account', AccountNode, `Accounts, ${order}.`, {
  edgeDescription: 'An account and its cursor.',
  nodeOf: (chain: ChainView) => present(accountOf(chain), 'an account'),
})

const AnchorConnection = listConnection('Anchor', AnchorNode, `Anchors, ${order}.`, {
  edgeDescription: 'An anchor and its cursor.',
})

const NftConnection = listConnection('Nft', NftNode, `NFTs, ${order}.`, {
  edgeDescription: 'An NFT and its cursor.',
})

const TokenConnection = listConnection(
  'Token',
  TokenNode,
  `Native tokens whose foundries are not destroyed, ${order}.`,
  {
    edgeDescription: 'A token and its cursor.',
  },
)

/** A page of delegations. */
export const DelegationConnection = listConnection(
  'Delegation',
  DelegationNode,
  `Delegations, ${order}.`,
  {
    edgeDescription: 'A delegation and its cursor.',
  },
)

const NftFilter = builder.inputType('NftFilter', {
  description: 'Conditions that NFTs must all meet.',
  fields: (t) => ({
    issuer: t.string({
      description: 'Bech32 of the address that issued them, of this network: a collection.',
    }),
  }),
})

const DelegationFilter = builder.inputType('DelegationFilter', {
  description: 'Conditions that delegations must all meet.',
  fields: (t) => ({
    validator: t.field({ type: 'AccountId', description: 'To this account.' }),
    owner: t.string({ description: 'Bech32 of their owner, of this network.' }),
  }),
})

type Types = typeof builder.$inferSchemaTypes
type QueryFields = PothosSchemaTypes.QueryFieldBuilder<Types, Types['Root']>
type ChainConnection = typeof AnchorConnection
type Keys = NonNullable<ChainsQuestion['keys']>

/** The key of an address in a filter; `undefined` where it is left out. */
function addressIn(
  { parameters }: Pick<Services, 'parameters'>,
  argument: string,
  text: string | null | undefined,
): Hex | undefined {
  return text == null ? undefined : orThrow(addressKeyOf(parameters.bech32Hrp, text, argument))
}

/** What delegations to an account are found by. */
export function validatorKeys(accountId: AccountId): Keys {
  return [{ kind: 'VALIDATOR', value: addressKey({ type: AccountAddress.code, accountId }) }]
}

/** A page of the chains of a kind. */
export async function chainsOf(
  { services }: GatewayContext,
  question: ChainsQuestion,
  args: Parameters<typeof listChains>[2],
) {
  return orThrow(await listChains(services, question, args))
}

/** A list of all chains of a kind. */
function allOf(t: QueryFields, type: ChainConnection, what: string, kind: ChainsQuestion['kind']) {
  return t.field({
    type,
    nullable: true,
    complexity: listCost,
    description: `The ${what}, ${order}.`,
    args: listArgs,
    resolve: (_root, args, context) => chainsOf(context, { kind }, args),
  })
}

builder.queryFields((t) => ({
  accounts: allOf(t, AccountConnection, 'accounts that are not destroyed', chainKinds.ACCOUNT),
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
    description: `The NFTs that are not destroyed, ${order}.`,
    args: {
      ...listArgs,
      filter: t.arg({ type: NftFilter, description: 'Which of them; left out: all.' }),
    },
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
    description: `The delegations that are not over, ${order}.`,
    args: {
      ...listArgs,
      filter: t.arg({ type: DelegationFilter, description: 'Which of them; left out: all.' }),
    },
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
    description: `The tokens that it mints and melts, ${order}.`,
    args: listArgs,
    resolve: ({ chainId }, args, context) => {
      const heldBy = addressKey({ type: AccountAddress.code, accountId: chainId as AccountId })
      return chainsOf(context, { kind: chainKinds.FOUNDRY, heldBy }, args)
    },
  }),
)

builder.objectFields(AddressNode, (t) => ({
  nfts: t.field({
    type: NftConnection,
    complexity: listCost,
    description: `The NFTs that it owns, ${order}.`,
    args: listArgs,
    resolve: ({ key: heldBy }, args, context) =>
      chainsOf(context, { kind: chainKinds.NFT, heldBy }, args),
  }),
  foundries: t.field({
    type: TokenConnection,
    complexity: listCost,
    description: `The tokens that it mints and melts, ${order}; only accounts do.`,
    args: listArgs,
    resolve: ({ key: heldBy }, args, context) =>
      chainsOf(context, { kind: chainKinds.FOUNDRY, heldBy }, args),
  }),
  delegations: t.field({
    type: DelegationConnection,
    complexity: listCost,
    description: `The delegations that it owns, ${order}.`,
    args: listArgs,
    resolve: ({ key: heldBy }, args, context) =>
      chainsOf(context, { kind: chainKinds.DELEGATION, heldBy }, args),
  }),
}))

const TokenHolder = builder.objectRef<TokenHolderView>('TokenHolder').implement({
  description: 'An address that owns some of a native token.',
  fields: (t) => ({
    address: t.field({
      complexity: free,
      type: AddressNode,
      description: 'The address.',
      resolve: ({ address }) => viewOfKey(address),
    }),
    amount: t.expose('total', {
      type: 'UInt256',
      description: 'All that it owns of the token, timelocked and expiring tokens included.',
    }),
    share: t.exposeFloat('share', { description: 'Its part of the circulating supply, 0 to 1.' }),
  }),
})

const TokenHolderConnection = listConnection(
  'TokenHolder',
  TokenHolder,
  'The holders of a native token, the one with most first.',
  {
    edgeDescription: 'A holder and its cursor.',
  },
)

builder.objectField(TokenNode, 'holders', (t) =>
  t.field({
    type: TokenHolderConnection,
    complexity: listCost,
    description: 'Who owns it as of the newest milestone, the one with most first.',
    args: pageArgs,
    resolve: async (chain, args, { services }) =>
      orThrow(await listTokenHolders(services, tokenParts(chain), args)),
  }),
)
