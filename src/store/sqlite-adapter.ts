import type { DatabaseSync } from 'node:sqlite'
import {
  DriverAdapterError,
  type IsolationLevel,
  type SqlDriverAdapter,
  type Transaction,
} from '@prisma/driver-adapter-utils'
import { type SqliteQueries, sqliteQueries } from './sqlite-queries.ts'

/** Prisma's driver adapter for the SQLite that Node brings. Unlike Prisma's own adapters it keeps what it prepared. */

/** The names by which Prisma knows the adapter. */
export const adapterInfo = { provider: 'sqlite', adapterName: 'node-sqlite' } as const

/**
 * How transactions begin: one that writes takes the lock of the file before it reads, for SQLite refuses to write what another
 * process has written since the first read of a transaction.
 */
export type Begin = 'BEGIN' | 'BEGIN IMMEDIATE'

/** A connection for Prisma; it owns the database that it is given. */
export function sqliteConnection(database: DatabaseSync, begin: Begin = 'BEGIN'): SqlDriverAdapter {
  return connectionBy(sqliteQueries(database), begin)
}

/** The same, wherever the database is. */
export function connectionBy(asked: SqliteQueries, begin: Begin): SqlDriverAdapter {
  const { queryRaw, executeRaw, executeEach, executeScript } = asked
  const queries = { queryRaw, executeRaw, executeEach }
  const startTransaction = serialTransactions(asked, begin)
  return { ...adapterInfo, ...queries, executeScript, startTransaction, dispose: asked.close }
}

/** Begins transactions, each when the former one is over: a connection has one at a time. */
function serialTransactions(asked: SqliteQueries, begin: Begin) {
  const { queryRaw, executeRaw, executeEach, executeScript, endTransaction } = asked
  const queries = { queryRaw, executeRaw, executeEach }
  /** Settled when all transactions begun or waiting so far are over. */
  let lastEnd: Promise<void> = Promise.resolve()

  return async (isolationLevel?: IsolationLevel): Promise<Transaction> => {
    if (isolationLevel !== undefined && isolationLevel !== 'SERIALIZABLE') {
      throw new DriverAdapterError({ kind: 'InvalidIsolationLevel', level: isolationLevel })
    }
    const former = lastEnd
    let release = () => {}
    lastEnd = new Promise((resolve) => {
      release = resolve
    })
    await former

    // Prisma has sent COMMIT or ROLLBACK before. A COMMIT that failed may leave the transaction open, and every later
    // one would begin within it.
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
