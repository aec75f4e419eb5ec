import type { Hex } from '../../lib/hex.ts'
import { AccountAddress } from '../../protocol/addresses.ts'
import { addressKey } from '../../protocol/ids.ts'
import type { AccountId } from '../../protocol/primitives.ts'
import { accountOf } from '../../service/accounts/read-account.ts'
import { addressKeyOf } from '../../service/addresses/address-key.ts'
import { tokenParts } from '../../service/chains/chain-parts.ts'
import {
  type ChainPage,
  type ChainsQuestion,
  encodeChainCursor,
  listChains,
} from '../../service/chains/list-chains.ts'
import type { ListPage } from '../../service/chains/page.ts'
import { chainKinds } from '../../service/chains/read-chain.ts'
import {
  encodeHolderCursor,
  listTokenHolders,
  type TokenHolderView,
} from '../../service/chains/token-holders.ts'
import type { Services } from '../../service/services.ts'
import { orThrow } from '../errors.ts'
import { AccountNode } from './account.ts'
import { AddressNode, viewOfKey } from './address-node.ts'
import { builder } from './builder.ts'
import { AnchorType, DelegationType, NftType, TokenType } from './chain-kinds.ts'
import { listCost, pageArgs, rowsOfPage, sortedPageArgs } from './chain-pages.ts'
import { connection } from './connection.ts'

/** Lists of chains that are not destroyed, and of who owns a token. */

const order = 'by when they changed last, as of the newest milestone'

const AccountConnection = connection('Account', AccountNode, {
  description: `Accounts, ${order}.`,
  edgeDescription: 'An account and its cursor.',
  nodesOf: (page: ChainPage) => page.rows.flatMap((chain) => accountOf(chain) ?? []),
  cursorOf: encodeChainCursor,
})

const AnchorConnection = connection('Anchor', AnchorType, {
  description: `Anchors, ${order}.`,
  edgeDescription: 'An anchor and its cursor.',
  nodesOf: (page: ChainPage) => rowsOfPage(page),
  cursorOf: encodeChainCursor,
})

const NftConnection = connection('Nft', NftType, {
  description: `NFTs, ${order}.`,
  edgeDescription: 'An NFT and its cursor.',
  nodesOf: (page: ChainPage) => rowsOfPage(page),
  cursorOf: encodeChainCursor,
})

const TokenConnection = connection('Token', TokenType, {
  description: `Native tokens whose foundries are not destroyed, ${order}.`,
  edgeDescription: 'A token and its cursor.',
  nodesOf: (page: ChainPage) => rowsOfPage(page),
  cursorOf: encodeChainCursor,
})

/** A page of delegations. */
export const DelegationConnection = connection('Delegation', DelegationType, {
  description: `Delegations, ${order}.`,
  edgeDescription: 'A delegation and its cursor.',
  nodesOf: (page: ChainPage) => rowsOfPage(page),
  cursorOf: encodeChainCursor,
})

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

type Keys = ChainsQuestion['keys']

/** The key of an address in a filter; `undefined` where it is left out. */
function addressIn(
  { parameters }: Pick<Services, 'parameters'>,
  argument: string,
  text: string | null | undefined,
): Hex | undefined {
  return text == null ? undefined : orThrow(addressKeyOf(parameters.bech32Hrp, text, argument))
}

function validatorIn(accountId: AccountId | null | undefined): Keys {
  if (accountId == null) return []
  return [{ kind: 'VALIDATOR', value: addressKey({ type: AccountAddress.code, accountId }) }]
}

builder.queryFields((t) => ({
  accounts: t.field({
    type: AccountConnection,
    complexity: listCost,
    description: `The accounts that are not destroyed, ${order}.`,
    args: sortedPageArgs(t.arg),
    resolve: async (_root, args, { services }) =>
      orThrow(await listChains(services, { ...args, kind: chainKinds.ACCOUNT, keys: [] })),
  }),
  anchors: t.field({
    type: AnchorConnection,
    complexity: listCost,
    description: `The anchors that are not destroyed, ${order}.`,
    args: sortedPageArgs(t.arg),
    resolve: async (_root, args, { services }) =>
      orThrow(await listChains(services, { ...args, kind: chainKinds.ANCHOR, keys: [] })),
  }),
  tokens: t.field({
    type: TokenConnection,
    complexity: listCost,
    description: `The native tokens whose foundries are not destroyed, ${order}.`,
    args: sortedPageArgs(t.arg),
    resolve: async (_root, args, { services }) =>
      orThrow(await listChains(services, { ...args, kind: chainKinds.FOUNDRY, keys: [] })),
  }),
  nfts: t.field({
    type: NftConnection,
    complexity: listCost,
    description: `The NFTs that are not destroyed, ${order}.`,
    args: {
      ...sortedPageArgs(t.arg),
      filter: t.arg({ type: NftFilter, description: 'Which of them; left out: all.' }),
    },
    resolve: async (_root, { filter, ...page }, { services }) => {
      const value = addressIn(services, 'filter.issuer', filter?.issuer)
      const keys = value === undefined ? [] : [{ kind: 'ISSUER', value } as const]
      return orThrow(await listChains(services, { ...page, kind: chainKinds.NFT, keys }))
    },
  }),
  delegations: t.field({
    type: DelegationConnection,
    complexity: listCost,
    description: `The delegations that are not over, ${order}.`,
    args: {
      ...sortedPageArgs(t.arg),
      filter: t.arg({ type: DelegationFilter, description: 'Which of them; left out: all.' }),
    },
    resolve: async (_root, { filter, ...page }, { services }) => {
      const heldBy = addressIn(services, 'filter.owner', filter?.owner)
      const keys = validatorIn(filter?.validator)
      return orThrow(
        await listChains(services, { ...page, kind: chainKinds.DELEGATION, keys, heldBy }),
      )
    },
  }),
}))

builder.objectField(AccountNode, 'foundries', (t) =>
  t.field({
    type: TokenConnection,
    complexity: listCost,
    description: `The tokens that it mints and melts, ${order}.`,
    args: sortedPageArgs(t.arg),
    resolve: async ({ chainId }, args, { services }) => {
      const heldBy = addressKey({ type: AccountAddress.code, accountId: chainId as AccountId })
      return orThrow(
        await listChains(services, { ...args, kind: chainKinds.FOUNDRY, keys: [], heldBy }),
      )
    },
  }),
)

builder.objectFields(AddressNode, (t) => ({
  nfts: t.field({
    type: NftConnection,
    complexity: listCost,
    description: `The NFTs that it owns, ${order}.`,
    args: sortedPageArgs(t.arg),
    resolve: async ({ key: heldBy }, args, { services }) =>
      orThrow(await listChains(services, { ...args, kind: chainKinds.NFT, keys: [], heldBy })),
  }),
  foundries: t.field({
    type: TokenConnection,
    complexity: listCost,
    description: `The tokens that it mints and melts, ${order}; only accounts do.`,
    args: sortedPageArgs(t.arg),
    resolve: async ({ key: heldBy }, args, { services }) =>
      orThrow(await listChains(services, { ...args, kind: chainKinds.FOUNDRY, keys: [], heldBy })),
  }),
  delegations: t.field({
    type: DelegationConnection,
    complexity: listCost,
    description: `The delegations that it owns, ${order}.`,
    args: sortedPageArgs(t.arg),
    resolve: async ({ key: heldBy }, args, { services }) =>
      orThrow(
        await listChains(services, { ...args, kind: chainKinds.DELEGATION, keys: [], heldBy }),
      ),
  }),
}))

const TokenHolder = builder.objectRef<TokenHolderView>('TokenHolder').implement({
  description: 'An address that owns some of a native token.',
  fields: (t) => ({
    address: t.field({
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

const TokenHolderConnection = connection('TokenHolder', TokenHolder, {
  description: 'The holders of a native token, the one with most first.',
  edgeDescription: 'A holder and its cursor.',
  nodesOf: (page: ListPage<TokenHolderView>) => rowsOfPage(page),
  cursorOf: encodeHolderCursor,
})

builder.objectField(TokenType, 'holders', (t) =>
  t.field({
    type: TokenHolderConnection,
    complexity: listCost,
    description: 'Who owns it as of the newest milestone, the one with most first.',
    args: pageArgs(t.arg),
    resolve: async (chain, args, { services }) =>
      orThrow(await listTokenHolders(services, tokenParts(chain), args)),
  }),
)
