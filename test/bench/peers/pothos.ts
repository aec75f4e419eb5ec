import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import SchemaBuilder from '@pothos/core'
import PrismaPlugin from '@pothos/plugin-prisma'
import RelayPlugin from '@pothos/plugin-relay'
import { PrismaPg } from '@prisma/adapter-pg'
import { createYoga } from 'graphql-yoga'
import { adapterInfo, sqliteConnection } from '../../../src/store/sqlite/adapter.ts'
import { addressBytes, addressText } from './address.ts'
import type PrismaTypes from './generated/sqlite/pothos.ts'
import { rolesOf } from './pages.ts'
import { databaseFile, databaseUrl, milestoneTimestamp, serve } from './serve.ts'

/** An ordinary server: a Prisma client of the gateway's tables, Pothos with Prisma's plugin and its connection, and yoga. */

const provider = databaseFile === undefined ? 'postgresql' : 'sqlite'
const { PrismaClient }: typeof import('./generated/sqlite/client/client.ts') = await import(
  `./generated/${provider}/client/client.ts`
)
const { getDatamodel }: typeof import('./generated/sqlite/pothos.ts') = await import(
  `./generated/${provider}/pothos.ts`
)
/** Prisma's own adapters for SQLite contain native code. This one uses the SQLite of Node, as the gateway does. */
const connect = async () => sqliteConnection(new DatabaseSync(databaseFile ?? ''))
const adapter =
  databaseFile === undefined
    ? new PrismaPg({ connectionString: databaseUrl })
    : { ...adapterInfo, connect }
const prisma = new PrismaClient({ adapter })

interface Types {
  PrismaTypes: PrismaTypes
  Scalars: {
    UInt32: { Input: number; Output: number | bigint }
    UInt64: { Input: bigint; Output: number | bigint }
    Hex: { Input: Uint8Array; Output: Uint8Array }
  }
}

const builder = new SchemaBuilder<Types>({
  plugins: [PrismaPlugin, RelayPlugin],
  prisma: { client: prisma, dmmf: getDatamodel() },
  relay: {},
})

builder.scalarType('UInt32', { serialize: Number })
builder.scalarType('UInt64', { serialize: String })
builder.scalarType('Hex', { serialize: (bytes) => `0x${Buffer.from(bytes).toString('hex')}` })

const Block = builder.prismaObject('Block', {
  fields: (t) => ({
    blockId: t.expose('id', { type: 'Hex' }),
    slot: t.expose('slot', { type: 'UInt32' }),
    issuerId: t.expose('issuerId', { type: 'Hex' }),
    issuingTime: t.expose('issuingTime', { type: 'UInt64' }),
    state: t.exposeString('state'),
    bytes: t.expose('bytes', { type: 'Hex' }),
  }),
})

const Transaction = builder.prismaObject('Transaction', {
  fields: (t) => ({
    transactionId: t.expose('id', { type: 'Hex' }),
    slot: t.expose('slot', { type: 'UInt32' }),
    state: t.exposeString('state'),
    block: t.relation('block', { type: Block }),
  }),
})

builder.prismaObject('Output', {
  fields: (t) => ({
    outputId: t.expose('id', { type: 'Hex' }),
    bytes: t.expose('bytes', { type: 'Hex' }),
    blockId: t.expose('blockId', { type: 'Hex' }),
    bookedSlot: t.expose('bookedSlot', { type: 'UInt32' }),
    spentSlot: t.expose('spentSlot', { type: 'UInt32', nullable: true }),
    isSpent: t.boolean({
      select: { spentSlot: true },
      resolve: (output) => output.spentSlot !== null,
    }),
    transactionId: t.field({
      type: 'Hex',
      select: { id: true },
      resolve: (output) => output.id.subarray(0, 36),
    }),
    // Prisma reads the transactions of a page in one query, because it batches `findUnique`.
    transaction: t.prismaField({
      type: Transaction,
      nullable: true,
      select: { id: true },
      resolve: (query, output) =>
        prisma.transaction.findUnique({ ...query, where: { id: output.id.subarray(0, 36) } }),
    }),
  }),
})

const LedgerUpdate = builder.prismaObject('LedgerUpdate', {
  fields: (t) => ({
    seq: t.expose('seq', { type: 'UInt64' }),
    ordinal: t.expose('ordinal', { type: 'UInt64' }),
    address: t.string({
      select: { address: true },
      resolve: (update) => addressText(update.address),
    }),
    class: t.string({
      select: { class: true },
      resolve: (update) => (update.class === 0 ? 'OWNED' : 'MENTIONED'),
    }),
    roles: t.stringList({ select: { roles: true }, resolve: (update) => rolesOf(update.roles) }),
    outputId: t.expose('outputId', { type: 'Hex' }),
    isSpent: t.exposeBoolean('isSpent'),
    milestoneIndex: t.expose('milestoneIndex', { type: 'UInt32' }),
    milestoneTimestamp: t.field({
      type: 'UInt32',
      select: { milestoneIndex: true },
      resolve: (update) => milestoneTimestamp(Number(update.milestoneIndex)),
    }),
    balance: t.expose('balance', { type: 'UInt64', nullable: true }),
    historyHash: t.expose('historyHash', { type: 'Hex' }),
    output: t.relation('output'),
  }),
})

builder.queryType({
  fields: (t) => ({
    ledgerUpdates: t.prismaConnection({
      type: LedgerUpdate,
      cursor: 'seq',
      args: { address: t.arg.string({ required: true }) },
      defaultSize: 100,
      maxSize: 1_000,
      totalCount: (_root, { address }) =>
        prisma.ledgerUpdate.count({ where: { address: addressBytes(address), class: 0 } }),
      resolve: (query, _root, { address }) =>
        prisma.ledgerUpdate.findMany({
          ...query,
          where: { address: addressBytes(address), class: 0 },
          orderBy: { seq: 'desc' },
        }),
    }),
  }),
})

serve(createServer(createYoga({ schema: builder.toSchema(), logging: false, graphiql: false })))
