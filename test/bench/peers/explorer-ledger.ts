import { failureReason, type PublishedFailure } from '../../../src/service/blocks/failure-reason.ts'
import { addressText } from './address.ts'
import { Address, builder, endOf, prisma } from './explorer-builder.ts'
import type { Prisma } from './generated/explorer/sqlite/client/client.ts'
import { rolesOf } from './pages.ts'

/** The milestones, blocks, transactions, outputs and updates of the ordinary explorer. */

/** The kinds of outputs by code. */
const kinds = ['BASIC', 'ACCOUNT', 'ANCHOR', 'FOUNDRY', 'NFT', 'DELEGATION']

/** The order of lists of blocks. */
export const newestBlocks: Prisma.BlockOrderByWithRelationInput[] = [
  { slot: 'desc' },
  { issuingTime: 'desc' },
  { inbox: 'desc' },
]

/** The order of lists of transactions. */
export const newestTransactions: Prisma.TransactionOrderByWithRelationInput[] = [
  { slot: 'desc' },
  { id: 'desc' },
]

/** Prisma joins simultaneous `findUnique` calls into one query. */
const countsOf = (slot: bigint) =>
  prisma.activity.findUnique({ where: { resolution_bucket: { resolution: 0, bucket: slot } } })

/** A committed slot. */
export const Milestone = builder.prismaObject('Commitment', {
  name: 'Milestone',
  fields: (t) => ({
    index: t.expose('slot', { type: 'UInt32' }),
    endedAt: t.field({ type: 'DateTime', resolve: ({ slot }) => endOf(slot) }),
    commitmentId: t.expose('id', { type: 'Hex' }),
    blockCount: t.field({
      type: 'UInt32',
      resolve: async ({ slot }) => (await countsOf(slot))?.blocks ?? 0,
    }),
    transactionCount: t.field({
      type: 'UInt32',
      resolve: async ({ slot }) => (await countsOf(slot))?.accepted ?? 0,
    }),
    updateCount: t.field({
      type: 'UInt64',
      resolve: ({ firstSeq, lastSeq }) => lastSeq - firstSeq + 1n,
    }),
    previous: t.prismaField({
      type: 'Commitment',
      nullable: true,
      resolve: (query, { slot }) =>
        prisma.commitment.findUnique({ ...query, where: { slot: slot - 1n } }),
    }),
    next: t.prismaField({
      type: 'Commitment',
      nullable: true,
      resolve: (query, { slot }) =>
        prisma.commitment.findUnique({ ...query, where: { slot: slot + 1n } }),
    }),
    blocks: t.prismaConnection({
      type: 'Block',
      cursor: 'id',
      resolve: (query, { slot }) =>
        prisma.block.findMany({ ...query, where: { slot }, orderBy: newestBlocks }),
    }),
    transactions: t.prismaConnection({
      type: 'Transaction',
      cursor: 'id',
      resolve: (query, { slot }) =>
        prisma.transaction.findMany({ ...query, where: { slot }, orderBy: newestTransactions }),
    }),
    updates: t.prismaConnection({
      type: 'LedgerUpdate',
      cursor: 'seq',
      resolve: (query, { firstSeq, lastSeq }) =>
        prisma.ledgerUpdate.findMany({
          ...query,
          where: { seq: { gte: firstSeq, lte: lastSeq } },
          orderBy: { seq: 'desc' },
        }),
    }),
  }),
})

/** A block. */
export const Block = builder.prismaObject('Block', {
  select: { id: true },
  fields: (t) => ({
    blockId: t.expose('id', { type: 'BlockId' }),
    state: t.exposeString('state'),
    slot: t.expose('slot', { type: 'UInt32' }),
    bytes: t.expose('bytes', { type: 'Hex' }),
    issuerId: t.expose('issuerId', { type: 'AccountId' }),
    issuedAt: t.field({
      type: 'DateTime',
      select: { issuingTime: true },
      resolve: ({ issuingTime }) => new Date(Number(issuingTime / 1_000_000n)),
    }),
    milestone: t.prismaField({
      type: 'Commitment',
      nullable: true,
      select: { slot: true },
      resolve: (query, { slot }) => prisma.commitment.findUnique({ ...query, where: { slot } }),
    }),
    transaction: t.relation('transaction', { nullable: true }),
    parents: t.relation('parents', { query: { orderBy: { parentId: 'asc' } } }),
    // Uses the join table, because with `parents: { some: … }` Prisma scans all blocks.
    children: t.prismaConnection({
      type: 'Block',
      cursor: 'inbox',
      resolve: async ({ take, skip, cursor, ...child }, { id }) => {
        const found = await prisma.blockParent.findMany({
          where: { parentId: id },
          orderBy: { inbox: 'desc' },
          take,
          skip,
          ...(cursor?.inbox && {
            cursor: { parentId_inbox: { parentId: id, inbox: cursor.inbox } },
          }),
          select: { child: child },
        })
        return found.map((row) => row.child)
      },
    }),
  }),
})

builder.prismaObject('BlockParent', {
  fields: (t) => ({
    blockId: t.expose('parentId', { type: 'BlockId' }),
    block: t.relation('parent', { nullable: true }),
  }),
})

const Failure = builder.objectRef<PublishedFailure>('TransactionFailure')
Failure.implement({
  fields: (t) => ({
    code: t.exposeInt('code'),
    name: t.exposeString('name'),
    sentence: t.exposeString('sentence'),
  }),
})

/** A transaction. */
export const Transaction = builder.prismaObject('Transaction', {
  select: { id: true },
  fields: (t) => ({
    transactionId: t.expose('id', { type: 'TransactionId' }),
    state: t.exposeString('state'),
    slot: t.expose('slot', { type: 'UInt32' }),
    failure: t.field({
      type: Failure,
      nullable: true,
      select: { failureReason: true },
      resolve: ({ failureReason: code }) => (code === null ? null : (failureReason(code) ?? null)),
    }),
    milestone: t.prismaField({
      type: 'Commitment',
      nullable: true,
      select: { slot: true, state: true },
      resolve: (query, { slot, state }) =>
        state === 'FAILED' || state === 'PENDING'
          ? null
          : prisma.commitment.findUnique({ ...query, where: { slot } }),
    }),
    block: t.relation('block'),
    carriers: t.relatedConnection('carriers', { cursor: 'id', query: { orderBy: newestBlocks } }),
    inputs: t.relation('inputs'),
    outputs: t.relation('outputs', { query: { orderBy: { id: 'asc' } } }),
    changes: t.relation('changes'),
    updates: t.prismaConnection({
      type: 'LedgerUpdate',
      cursor: 'seq',
      resolve: async (query, { id }) => {
        const where = { OR: [{ spentBy: id }, { transactionId: id }] }
        const moved = await prisma.output.findMany({ where, select: { id: true, spentBy: true } })
        const isInput = ({ spentBy }: (typeof moved)[0]) => spentBy !== null && same(spentBy, id)
        const idsOf = (outputs: typeof moved) => outputs.map((output) => output.id)
        return prisma.ledgerUpdate.findMany({
          ...query,
          where: {
            OR: [
              { isSpent: true, outputId: { in: idsOf(moved.filter(isInput)) } },
              {
                isSpent: false,
                outputId: { in: idsOf(moved.filter((output) => !isInput(output))) },
              },
            ],
          },
          orderBy: { seq: 'desc' },
        })
      },
    }),
  }),
})

builder.prismaObject('Change', {
  name: 'AddressChange',
  fields: (t) => ({
    address: t.field({ type: Address, resolve: ({ address }) => ({ key: address }) }),
    sent: t.expose('sent', { type: 'UInt64' }),
    received: t.expose('received', { type: 'UInt64' }),
  }),
})

builder.prismaObject('Output', {
  fields: (t) => ({
    outputId: t.expose('id', { type: 'Hex' }),
    kind: t.string({ resolve: ({ kind }) => kinds[kind] ?? '' }),
    amount: t.expose('amount', { type: 'UInt64' }),
    mana: t.expose('mana', { type: 'UInt64', nullable: true }),
    owner: t.field({ type: Address, resolve: ({ owner }) => ({ key: owner }) }),
    bookedAt: t.field({ type: 'DateTime', resolve: ({ bookedSlot }) => endOf(bookedSlot) }),
    isSpent: t.boolean({ resolve: ({ spentSlot }) => spentSlot !== null }),
    spendingTransaction: t.relation('spent', { nullable: true }),
  }),
})

builder.prismaObject('LedgerUpdate', {
  fields: (t) => ({
    address: t.string({ resolve: ({ address }) => addressText(address) }),
    roles: t.stringList({ resolve: ({ roles }) => rolesOf(roles) }),
    outputId: t.expose('outputId', { type: 'Hex' }),
    isSpent: t.exposeBoolean('isSpent'),
    milestoneIndex: t.expose('milestoneIndex', { type: 'UInt32' }),
    milestoneEndedAt: t.field({
      type: 'DateTime',
      resolve: ({ milestoneIndex }) => endOf(milestoneIndex),
    }),
    balance: t.expose('balance', { type: 'UInt64', nullable: true }),
    output: t.relation('output'),
    transaction: t.prismaField({
      type: 'Transaction',
      nullable: true,
      select: { output: { select: { spentBy: true, transactionId: true } } },
      resolve: (query, { isSpent, output: { spentBy, transactionId } }) =>
        prisma.transaction.findUnique({
          ...query,
          where: { id: isSpent && spentBy !== null ? spentBy : transactionId },
        }),
    }),
  }),
})

builder.prismaObject('ChainState', {
  fields: (t) => ({
    number: t.expose('ordinal', { type: 'UInt64' }),
    outputId: t.expose('outputId', { type: 'Hex' }),
    output: t.relation('output'),
    transactionId: t.field({
      type: 'TransactionId',
      resolve: ({ outputId }) => outputId.subarray(0, 36),
    }),
    milestone: t.prismaField({
      type: 'Commitment',
      nullable: true,
      resolve: (query, { bookedSlot }) =>
        prisma.commitment.findUnique({ ...query, where: { slot: bookedSlot } }),
    }),
  }),
})

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}
