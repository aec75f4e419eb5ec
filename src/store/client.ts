import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils'
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts'

/** What is taken from Prisma's client in types: both databases have the same models (docs/decisions/023-prisma.md). */

/** A client of either database. */
export type Client = PrismaClient

/** A client, or one of its transactions. */
export type Tx = Prisma.TransactionClient

/** A connection below Prisma, for what must happen before a client may use it. */
export type SqlConnection = SqlDriverAdapter
