import { addressText } from './address.ts'
import { Address, addressOf, type Bytes, builder, prisma } from './explorer-builder.ts'
import { newestBlocks } from './explorer-ledger.ts'
import type { Prisma } from './generated/explorer/sqlite/client/client.ts'

/** The addresses and chains of the ordinary explorer. */

const addressKinds: { readonly [type: number]: string } = {
  0: 'ED25519',
  8: 'ACCOUNT',
  16: 'NFT',
  24: 'ANCHOR',
  32: 'IMPLICIT_ACCOUNT_CREATION',
  40: 'MULTI',
  48: 'RESTRICTED',
}

const noBalance = {
  ...{ total: 0n, available: 0n, timelocked: 0n, storageDeposit: 0n, expiring: 0n },
  outputs: 0n,
}
const Balance = builder.objectRef<typeof noBalance>('AddressBalance').implement({
  fields: (t) => ({
    total: t.expose('total', { type: 'UInt64' }),
    available: t.expose('available', { type: 'UInt64' }),
    timelocked: t.expose('timelocked', { type: 'UInt64' }),
    storageDeposit: t.expose('storageDeposit', { type: 'UInt64' }),
    expiring: t.expose('expiring', { type: 'UInt64' }),
    outputCount: t.expose('outputs', { type: 'UInt64' }),
  }),
})

builder.prismaObject('TokenBalance', {
  name: 'TokenHolder',
  fields: (t) => ({
    tokenId: t.expose('tokenId', { type: 'FoundryId' }),
    total: t.expose('total', { type: 'UInt256' }),
    amount: t.expose('total', { type: 'UInt256' }),
    address: t.field({ type: Address, resolve: ({ address }) => ({ key: address }) }),
  }),
})

const unspent = (key: Bytes, kind?: number) => ({
  owner: key,
  spentSlot: null,
  ...(kind === undefined ? {} : { kind }),
})
type Order = Prisma.OutputOrderByWithRelationInput[]
const newest: Order = [{ bookedSlot: 'desc' }, { id: 'desc' }]
const oldest: Order = [{ bookedSlot: 'asc' }, { id: 'asc' }]

/** An NFT by its newest output. */
export const Nft = builder.prismaObject('Output', {
  variant: 'Nft',
  fields: (t) => ({
    nftId: t.expose('chainId', { type: 'NftId', nullable: true }),
    isDestroyed: t.boolean({ resolve: ({ spentSlot }) => spentSlot !== null }),
    owner: t.field({ type: Address, resolve: ({ owner }) => ({ key: owner }) }),
    address: t.field({ type: Address, resolve: ({ chainId }) => addressOf(16, chainId) }),
    output: t.variant('Output', { isNull: ({ spentSlot }) => spentSlot !== null }),
    history: t.prismaConnection({
      type: 'ChainState',
      cursor: 'chainId_ordinal',
      totalCount: ({ chainId }) => countOfStates(chainId),
      resolve: (query, { chainId }) => statesOf(chainId, query),
    }),
  }),
})

function statesOf(chainId: Bytes | null, query: object) {
  return prisma.chainState.findMany({
    ...query,
    where: { chainId: chainId ?? new Uint8Array() },
    orderBy: { ordinal: 'desc' },
  })
}

function countOfStates(chainId: Bytes | null) {
  return prisma.chainState.count({ where: { chainId: chainId ?? new Uint8Array() } })
}

/** A token by the newest output of its foundry. */
export const Token = builder.prismaObject('Output', {
  variant: 'Token',
  fields: (t) => ({
    tokenId: t.expose('chainId', { type: 'FoundryId', nullable: true }),
    isDestroyed: t.boolean({ resolve: ({ spentSlot }) => spentSlot !== null }),
    holders: t.prismaConnection({
      type: 'TokenBalance',
      cursor: 'address_tokenId',
      resolve: (query, { chainId }) =>
        prisma.tokenBalance.findMany({
          ...query,
          where: { tokenId: chainId ?? new Uint8Array() },
          orderBy: [{ total: 'desc' }, { address: 'desc' }],
        }),
    }),
    history: t.prismaConnection({
      type: 'ChainState',
      cursor: 'chainId_ordinal',
      totalCount: ({ chainId }) => countOfStates(chainId),
      resolve: (query, { chainId }) => statesOf(chainId, query),
    }),
  }),
})

/** An account by its newest output. */
export const Account = builder.prismaObject('Output', {
  variant: 'Account',
  fields: (t) => ({
    accountId: t.expose('chainId', { type: 'AccountId', nullable: true }),
    isDestroyed: t.boolean({ resolve: ({ spentSlot }) => spentSlot !== null }),
    address: t.field({ type: Address, resolve: ({ chainId }) => addressOf(8, chainId) }),
    foundries: t.prismaConnection({
      type: Token,
      cursor: 'id',
      resolve: (query, { chainId }) =>
        prisma.output.findMany({
          ...query,
          where: unspent(addressOf(8, chainId).key, 3),
          orderBy: newest,
        }),
    }),
    blocks: t.prismaConnection({
      type: 'Block',
      cursor: 'id',
      resolve: (query, { chainId }) =>
        prisma.block.findMany({
          ...query,
          where: { issuerId: chainId ?? new Uint8Array() },
          orderBy: newestBlocks,
        }),
    }),
    history: t.prismaConnection({
      type: 'ChainState',
      cursor: 'chainId_ordinal',
      totalCount: ({ chainId }) => countOfStates(chainId),
      resolve: (query, { chainId }) => statesOf(chainId, query),
    }),
    chainRecord: t.prismaField({
      type: 'ChainRecord',
      nullable: true,
      resolve: (query, { chainId }) =>
        prisma.chainRecord.findFirst({
          ...query,
          where: { chainId: addressText(addressOf(8, chainId).key), isNewest: true },
        }),
    }),
  }),
})

builder.prismaObject('ChainRecord', {
  fields: (t) => ({
    isActive: t.exposeBoolean('isActive'),
    version: t.exposeInt('version'),
    accessNodes: t.stringList({ resolve: ({ accessNodes }) => JSON.parse(accessNodes) }),
  }),
})

const Delegation = builder.prismaObject('Output', {
  variant: 'Delegation',
  fields: (t) => ({
    delegationId: t.expose('chainId', { type: 'Hex', nullable: true }),
    delegatedAmount: t.expose('amount', { type: 'UInt64' }),
  }),
})

/** The newest output of a chain; if it is spent, the chain is destroyed. */
export async function newestState(chainId: Bytes | null, query: object) {
  const state = await prisma.chainState.findFirst({
    where: { chainId: chainId ?? new Uint8Array() },
    orderBy: { ordinal: 'desc' },
    select: { output: Object.keys(query).length === 0 ? true : query },
  })
  return state?.output ?? null
}

Address.implement({
  fields: (t) => ({
    bech32: t.string({ resolve: ({ key }) => addressText(key) }),
    kind: t.string({ resolve: ({ key }) => addressKinds[key[0] ?? 0] ?? '' }),
    balance: t.field({
      type: Balance,
      resolve: async ({ key }) =>
        (await prisma.balance.findUnique({ where: { address: key } })) ?? noBalance,
    }),
    nativeTokens: t.prismaConnection({
      type: 'TokenBalance',
      cursor: 'address_tokenId',
      resolve: (query, { key }) =>
        prisma.tokenBalance.findMany({
          ...query,
          where: { address: key },
          orderBy: { tokenId: 'asc' },
        }),
    }),
    nfts: t.prismaConnection({
      type: Nft,
      cursor: 'id',
      resolve: (query, { key }) =>
        prisma.output.findMany({ ...query, where: unspent(key, 4), orderBy: newest }),
    }),
    foundries: t.prismaConnection({
      type: Token,
      cursor: 'id',
      resolve: (query, { key }) =>
        prisma.output.findMany({ ...query, where: unspent(key, 3), orderBy: newest }),
    }),
    delegations: t.prismaConnection({
      type: Delegation,
      cursor: 'id',
      resolve: (query, { key }) =>
        prisma.output.findMany({ ...query, where: unspent(key, 5), orderBy: newest }),
    }),
    unspentOutputs: t.prismaConnection({
      type: 'Output',
      cursor: 'id',
      resolve: (query, { key }) =>
        prisma.output.findMany({ ...query, where: unspent(key), orderBy: oldest }),
    }),
    updates: t.prismaConnection({
      type: 'LedgerUpdate',
      cursor: 'seq',
      totalCount: ({ key }) => prisma.ledgerUpdate.count({ where: { address: key, class: 0 } }),
      resolve: (query, { key }) =>
        prisma.ledgerUpdate.findMany({
          ...query,
          where: { address: key, class: 0 },
          orderBy: { seq: 'desc' },
        }),
    }),
  }),
})

builder.prismaObjectField(Token, 'account', (t) =>
  t.prismaField({
    type: Account,
    nullable: true,
    resolve: (query, { chainId }) => newestState(chainId?.subarray(1, 33) ?? null, query),
  }),
)

builder.prismaObjectField('Block', 'issuer', (t) =>
  t.prismaField({
    type: Account,
    nullable: true,
    select: { issuerId: true },
    resolve: (query, { issuerId }) => newestState(issuerId, query),
  }),
)
