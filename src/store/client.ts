import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils'
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts'

/** What is taken from Prisma's client in types: both databases have the same models (docs/decisions/023-prisma.md). */

/** A client of either database. */
export type Client = PrismaClient

/** A client, or one of its transactions. */
export type Tx = Prisma.TransactionClient

/** What runs raw statements: a client, one of its transactions, or a transaction of the writer below its client. */
export interface RawTx {
  $executeRawUnsafe(text: string, ...parameters: readonly RawParameter[]): Promise<number>
  $queryRawUnsafe<Rows = unknown>(
    text: string,
    ...parameters: readonly RawParameter[]
  ): Promise<Rows>
  /** Runs a statement once for each list of parameters, where a statement costs little; gives the number of rows changed. */
  readonly executeEach?: (
    text: string,
    lists: readonly (readonly RawParameter[])[],
  ) => Promise<number>
}

/** A parameter of a raw statement; numbers are whole. */
export type RawParameter = string | number | bigint | boolean | Uint8Array | null

/** A connection below Prisma, for what must happen before a client may use it. */
export type SqlConnection = SqlDriverAdapter
