import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils'
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts'

/** Types of Prisma's client. Both databases have the same models (docs/decisions/023-prisma.md). */

export type Client = PrismaClient

export type Tx = Prisma.TransactionClient

/** A runner of raw statements: a client, one of its transactions, or a transaction of the writer that bypasses its client. */
export interface RawTx {
  $executeRawUnsafe(text: string, ...parameters: readonly RawParameter[]): Promise<number>
  $queryRawUnsafe<Rows = unknown>(
    text: string,
    ...parameters: readonly RawParameter[]
  ): Promise<Rows>
  /** Runs a statement once per list of parameters. Resolves to the number of changed rows. Present if a statement is cheap. */
  readonly executeEach?: (
    text: string,
    lists: readonly (readonly RawParameter[])[],
  ) => Promise<number>
}

/** A parameter of a raw statement. Numbers are integers. */
export type RawParameter = string | number | bigint | boolean | Uint8Array | null

/** A connection that bypasses Prisma's client, for statements that must run before a client may use the database. */
export type SqlConnection = SqlDriverAdapter
