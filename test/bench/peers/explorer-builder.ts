import { DatabaseSync } from 'node:sqlite'
import SchemaBuilder from '@pothos/core'
import PrismaPlugin from '@pothos/plugin-prisma'
import RelayPlugin from '@pothos/plugin-relay'
import { PrismaPg } from '@prisma/adapter-pg'
import { adapterInfo, sqliteConnection } from '../../../src/store/sqlite/adapter.ts'
import type PrismaTypes from './generated/explorer/sqlite/pothos.ts'
import { databaseFile, databaseUrl, milestoneTimestamp } from './serve.ts'

/** The client, the builder and the scalars of an ordinary explorer with Prisma and Pothos. */

const provider = databaseFile === undefined ? 'postgresql' : 'sqlite'
const { PrismaClient }: typeof import('./generated/explorer/sqlite/client/client.ts') =
  await import(`./generated/explorer/${provider}/client/client.ts`)
const { getDatamodel }: typeof import('./generated/explorer/sqlite/pothos.ts') = await import(
  `./generated/explorer/${provider}/pothos.ts`
)
/** The SQLite adapter, as in pothos.ts. */
const connect = async () => sqliteConnection(new DatabaseSync(databaseFile ?? ''))

/** The client of the database. */
export const prisma = new PrismaClient({
  adapter:
    databaseFile === undefined
      ? new PrismaPg({ connectionString: databaseUrl })
      : { ...adapterInfo, connect },
})

/** Bytes in the type of Prisma. */
export type Bytes = Uint8Array<ArrayBuffer>
const ids = ['AccountId', 'BlockId', 'FoundryId', 'Hex', 'NftId', 'TransactionId'] as const
interface ByBytes {
  Input: Bytes
  Output: Uint8Array
}

interface Types {
  PrismaTypes: PrismaTypes
  Scalars: { [I in (typeof ids)[number]]: ByBytes } & {
    DateTime: { Input: Date; Output: Date }
    UInt32: { Input: number; Output: number | bigint }
    UInt64: { Input: bigint; Output: number | bigint }
    UInt256: { Input: Bytes; Output: Uint8Array }
  }
}

/** The builder to which the other files add types. */
export const builder = new SchemaBuilder<Types>({
  plugins: [PrismaPlugin, RelayPlugin],
  prisma: { client: prisma, dmmf: getDatamodel() },
  relay: { nodesOnConnection: true },
})

const hexOf = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`
const bytesOf = (text: unknown): Bytes => Uint8Array.from(Buffer.from(`${text}`.slice(2), 'hex'))

for (const id of ids) builder.scalarType(id, { serialize: hexOf, parseValue: bytesOf })
builder.scalarType('UInt32', { serialize: Number, parseValue: Number })
builder.scalarType('UInt64', { serialize: String })
builder.scalarType('UInt256', { serialize: (bytes) => hexOf(bytes).replace(/^0x0*(?=.)/, '0x') })
builder.scalarType('DateTime', {
  serialize: (date) => date.toISOString(),
  parseValue: (text) => new Date(`${text}`),
})

/** The end of a milestone. */
export function endOf(slot: bigint): Date {
  return new Date(milestoneTimestamp(Number(slot)) * 1_000)
}

/** The newest milestone. */
export function newestMilestone() {
  return prisma.commitment.findFirstOrThrow({ orderBy: { slot: 'desc' } })
}

/** An address by its bytes. */
export const Address = builder.objectRef<{ readonly key: Bytes }>('Address')

/** The address of a chain. */
export function addressOf(type: 8 | 16, id: Bytes | null): { readonly key: Bytes } {
  return { key: Uint8Array.of(type, ...(id ?? [])) }
}
