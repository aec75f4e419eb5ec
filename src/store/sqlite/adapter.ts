import type { DatabaseSync } from 'node:sqlite'
import {
  DriverAdapterError,
  type IsolationLevel,
  type SqlDriverAdapter,
  type Transaction,
} from '@prisma/driver-adapter-utils'
import { type SqliteQueries, sqliteQueries } from './queries.ts'

/** A driver adapter of Prisma for Node's built-in SQLite. Unlike Prisma's own adapters, it caches prepared statements. */

/** The names under which Prisma knows the adapter. */
export const adapterInfo = { provider: 'sqlite', adapterName: 'node-sqlite' } as const

/**
 * The statement that begins a transaction. A writing transaction takes the lock of the file before it reads, because SQLite rejects
 * a write if another process has written since the first read of the transaction.
 */
export type Begin = 'BEGIN' | 'BEGIN IMMEDIATE'

/** Creates a connection for Prisma. It owns the given database. */
export function sqliteConnection(database: DatabaseSync, begin: Begin = 'BEGIN'): SqlDriverAdapter {
  return connectionBy(sqliteQueries(database), begin)
}

/** Creates a connection for Prisma from queries on any thread. */
export function connectionBy(sqlite: SqliteQueries, begin: Begin): SqlDriverAdapter {
  const { queryRaw, executeRaw, executeEach, executeScript } = sqlite
  const queries = { queryRaw, executeRaw, executeEach }
  const startTransaction = serialTransactions(sqlite, begin)
  return { ...adapterInfo, ...queries, executeScript, startTransaction, dispose: sqlite.close }
}

/** Begins transactions one after the other, because a connection has one transaction at a time. */
function serialTransactions(sqlite: SqliteQueries, begin: Begin) {
  const { queryRaw, executeRaw, executeEach, executeScript, endTransaction } = sqlite
  const queries = { queryRaw, executeRaw, executeEach }
  /** Settles when all current and waiting transactions have ended. */
  let lastEnd: Promise<void> = Promise.resolve()

  return async (isolationLevel?: IsolationLevel): Promise<Transaction> => {
    if (isolationLevel !== undefined && isolationLevel !== 'SERIALIZABLE') {
      throw new DriverAdapterError({ kind: 'InvalidIsolationLevel', level: isolationLevel })
    }
    const former = lastEnd
    const { promise, resolve: release } = Promise.withResolvers<void>()
    lastEnd = promise
    await former

    // Prisma has sent COMMIT or ROLLBACK before. A COMMIT that failed may leave the transaction open, and every later transaction would
    // begin inside it.
    async function end(): Promise<void> {
      try {
        await endTransaction()
      } finally {
        release()
      }
    }

    try {
      await executeScript(begin)
    } catch (failure) {
      release()
      throw failure
    }
    const options = { usePhantomQuery: false }
    return { ...adapterInfo, options, ...queries, commit: end, rollback: end }
  }
}
