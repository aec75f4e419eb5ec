import { createServer } from 'node:http'
import { createYoga } from 'graphql-yoga'
import { addressBytes } from './address.ts'
import { Address, builder, endOf, newestMilestone, prisma } from './explorer-builder.ts'
import { Block, Milestone, newestTransactions, Transaction } from './explorer-ledger.ts'
import { Account, Nft, newestState, Token } from './explorer-things.ts'
import { serve } from './serve.ts'

/** An ordinary explorer: Pothos with Prisma's plugin on tables designed for it, and yoga with default settings. */

const SlotTime = builder.objectRef<{ readonly slot: bigint }>('SlotTime').implement({
  fields: (t) => ({
    slot: t.expose('slot', { type: 'UInt32' }),
    end: t.field({ type: 'DateTime', resolve: ({ slot }) => endOf(slot) }),
  }),
})

const Status = builder.objectRef<object>('Status').implement({
  fields: (t) => ({
    committed: t.field({ type: SlotTime, resolve: newestMilestone }),
    finalized: t.field({ type: SlotTime, resolve: newestMilestone }),
    addresses: t.field({
      type: 'UInt64',
      resolve: async () =>
        (await prisma.balanceRange.aggregate({ _sum: { addresses: true } }))._sum.addresses ?? 0n,
    }),
    unspentOutputs: t.field({
      type: 'UInt64',
      resolve: async () =>
        (await prisma.outputCount.aggregate({ _sum: { outputs: true } }))._sum.outputs ?? 0n,
    }),
    accounts: t.field({
      type: 'UInt64',
      resolve: async () =>
        (await prisma.outputCount.findUnique({ where: { kind: 1n } }))?.outputs ?? 0n,
    }),
  }),
})

const Resolution = builder.enumType('ActivityResolution', { values: ['MINUTE'] as const })

builder.prismaObject('Activity', {
  name: 'ActivityPoint',
  fields: (t) => ({
    start: t.field({
      type: 'DateTime',
      resolve: ({ bucket }) => new Date(Number(bucket) * 60_000),
    }),
    transactionsAccepted: t.expose('accepted', { type: 'UInt64' }),
    transactionsFailed: t.expose('failed', { type: 'UInt64', nullable: true }),
    baseTokensMoved: t.field({
      type: 'UInt64',
      resolve: ({ movedHigh, movedLow }) => (movedHigh ?? 0n) * 10n ** 12n + (movedLow ?? 0n),
    }),
  }),
})

interface Seat {
  readonly accountId: string
  readonly poolStake: string
  readonly validatorStake: string
  readonly fixedCost: string
}

const Member = builder.objectRef<Seat>('CommitteeMember').implement({
  fields: (t) => ({
    accountId: t.exposeString('accountId'),
    poolStake: t.exposeString('poolStake'),
    validatorStake: t.exposeString('validatorStake'),
    fixedCost: t.exposeString('fixedCost'),
  }),
})

const sumOf = (seats: readonly Seat[], of: 'poolStake' | 'validatorStake') =>
  seats.reduce((sum, seat) => sum + BigInt(seat[of]), 0n)

const Committee = builder.objectRef<readonly Seat[]>('Committee').implement({
  fields: (t) => ({
    totalStake: t.field({ type: 'UInt64', resolve: (seats) => sumOf(seats, 'poolStake') }),
    totalValidatorStake: t.field({
      type: 'UInt64',
      resolve: (seats) => sumOf(seats, 'validatorStake'),
    }),
    members: t.field({ type: [Member], resolve: (seats) => [...seats] }),
  }),
})

const slotsPerEpoch = 64n

builder.prismaObject('Epoch', {
  fields: (t) => ({
    index: t.expose('epoch', { type: 'UInt32' }),
    firstSlot: t.field({ type: 'UInt32', resolve: ({ epoch }) => epoch * slotsPerEpoch }),
    lastSlot: t.field({
      type: 'UInt32',
      resolve: ({ epoch }) => (epoch + 1n) * slotsPerEpoch - 1n,
    }),
    committee: t.field({ type: Committee, resolve: ({ committee }) => JSON.parse(committee) }),
  }),
})

const Thing = builder.unionType('SearchThing', { types: [Block, Transaction, Milestone] })

interface Hit {
  readonly match: string
  readonly thing: typeof Thing.$inferType
}

const SearchHit = builder.objectRef<Hit>('SearchHit').implement({
  fields: (t) => ({
    match: t.exposeString('match'),
    thing: t.field({ type: Thing, resolve: ({ thing }) => thing }),
  }),
})

const SearchResult = builder.objectRef<readonly Hit[]>('SearchResult').implement({
  fields: (t) => ({ hits: t.field({ type: [SearchHit], resolve: (hits) => [...hits] }) }),
})

/** Finds the complete id of a block or a transaction, or the index of a milestone. Prisma cannot search for a prefix of bytes. */
async function search(text: string): Promise<readonly Hit[]> {
  if (/^[0-9]+$/.test(text)) {
    const slot = await prisma.commitment.findUnique({ where: { slot: BigInt(text) } })
    return slot === null ? [] : [{ match: 'MILESTONE_INDEX', thing: Milestone.addBrand(slot) }]
  }
  const id = Uint8Array.from(Buffer.from(text.slice(2), 'hex'))
  const [block, transaction] = await Promise.all([
    prisma.block.findUnique({ where: { id } }),
    prisma.transaction.findUnique({ where: { id } }),
  ])
  return [
    ...(block === null ? [] : [{ match: 'BLOCK_ID', thing: Block.addBrand(block) }]),
    ...(transaction === null
      ? []
      : [{ match: 'TRANSACTION_ID', thing: Transaction.addBrand(transaction) }]),
  ]
}

builder.queryType({
  fields: (t) => ({
    status: t.field({ type: Status, resolve: () => ({}) }),
    activity: t.prismaField({
      type: ['Activity'],
      args: {
        resolution: t.arg({ type: Resolution, required: true }),
        from: t.arg({ type: 'DateTime' }),
      },
      resolve: (query, _root, { from }) =>
        prisma.activity.findMany({
          ...query,
          where: { resolution: 1, bucket: { gte: Math.floor((from?.getTime() ?? 0) / 60_000) } },
          orderBy: { bucket: 'asc' },
        }),
    }),
    milestones: t.prismaConnection({
      type: 'Commitment',
      cursor: 'slot',
      resolve: (query) => prisma.commitment.findMany({ ...query, orderBy: { slot: 'desc' } }),
    }),
    milestone: t.prismaField({
      type: 'Commitment',
      nullable: true,
      args: { index: t.arg({ type: 'UInt32' }) },
      resolve: async (query, _root, { index }) => {
        const slot = index ?? (await newestMilestone()).slot
        return prisma.commitment.findUnique({ ...query, where: { slot } })
      },
    }),
    transactions: t.prismaConnection({
      type: 'Transaction',
      cursor: 'id',
      resolve: (query) => prisma.transaction.findMany({ ...query, orderBy: newestTransactions }),
    }),
    transaction: t.prismaField({
      type: 'Transaction',
      nullable: true,
      args: { id: t.arg({ type: 'TransactionId', required: true }) },
      resolve: (query, _root, { id }) => prisma.transaction.findUnique({ ...query, where: { id } }),
    }),
    block: t.prismaField({
      type: 'Block',
      nullable: true,
      args: { id: t.arg({ type: 'BlockId', required: true }) },
      resolve: (query, _root, { id }) => prisma.block.findUnique({ ...query, where: { id } }),
    }),
    address: t.field({
      type: Address,
      nullable: true,
      args: { address: t.arg.string({ required: true }) },
      resolve: (_root, { address }) => ({ key: addressBytes(address) }),
    }),
    account: t.prismaField({
      type: Account,
      nullable: true,
      args: { id: t.arg({ type: 'AccountId', required: true }) },
      resolve: (query, _root, { id }) => newestState(id, query),
    }),
    nft: t.prismaField({
      type: Nft,
      nullable: true,
      args: { id: t.arg({ type: 'NftId', required: true }) },
      resolve: (query, _root, { id }) => newestState(id, query),
    }),
    token: t.prismaField({
      type: Token,
      nullable: true,
      args: { id: t.arg({ type: 'FoundryId', required: true }) },
      resolve: (query, _root, { id }) => newestState(id, query),
    }),
    search: t.field({
      type: SearchResult,
      args: { text: t.arg.string({ required: true }) },
      resolve: (_root, { text }) => search(text),
    }),
    epoch: t.prismaField({
      type: 'Epoch',
      nullable: true,
      args: { index: t.arg({ type: 'UInt32' }) },
      resolve: async (query, _root, { index }) => {
        const epoch = index ?? (await newestMilestone()).slot / slotsPerEpoch
        return prisma.epoch.findUnique({ ...query, where: { epoch } })
      },
    }),
  }),
})

serve(createServer(createYoga({ schema: builder.toSchema(), logging: false, graphiql: false })))
