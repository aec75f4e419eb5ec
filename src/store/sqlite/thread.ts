import { DriverAdapterError } from '@prisma/driver-adapter-utils'
import { assert, present } from '../../lib/assert.ts'
import { createFifo } from '../../lib/fifo.ts'
import { startThread } from '../../lib/thread.ts'
import { unpackRows } from './packed-rows.ts'
import type { SqliteQueries } from './queries.ts'
import type { SqliteFailure, SqliteRequest, SqliteResponse } from './worker.ts'

/**
 * A connection to SQLite on a separate thread. The driver runs each statement synchronously, and COMMIT waits for the disk
 * (docs/decisions/045-writes-on-a-thread.md).
 */

interface Pending {
  readonly resolve: (answer: SqliteResponse) => void
}

/** Starts a thread, and opens the file on it. If the thread ends, for example out of memory, the process ends. */
export async function sqliteOnThread(file: string): Promise<SqliteQueries> {
  const worker = startThread(import.meta.url, 'worker', file)
  const pending = createFifo<Pending>()
  let isInTransaction = false
  let isClosed = false
  worker.on('message', (answer: SqliteResponse) => {
    isInTransaction = answer.isInTransaction
    present(pending.shift(), 'a request for each response').resolve(answer)
    // The thread keeps the process running only while a request is pending.
    if (pending.length === 0) worker.unref()
  })
  worker.on('exit', () => assert(isClosed, 'the thread of the database runs until it is closed'))

  async function ask(request: SqliteRequest) {
    assert(!isClosed, 'the connection is open')
    if (pending.length === 0) worker.ref()
    const answer = await new Promise<SqliteResponse>((resolve) => {
      pending.push({ resolve })
      worker.postMessage(request)
    })
    if (!answer.ok) throw errorOf(answer.failure)
    return answer
  }

  async function end(): Promise<void> {
    isClosed = true
    await worker.terminate()
  }

  try {
    await new Promise<unknown>((resolve, reject) => {
      // For example without a free file descriptor. The end of the thread follows at once.
      const refuse = ({ message }: Error) => {
        isClosed = true
        const failure = new Error(`the thread of the database did not start: ${message}`)
        reject(Object.assign(failure, { code: 'SQLITE_CANTOPEN' }))
      }
      worker.once('error', refuse)
      ask({ what: 'open' })
        .finally(() => worker.off('error', refuse))
        .then(resolve, reject)
    })
  } catch (failure) {
    await end()
    throw failure
  }
  return {
    queryRaw: async (query) => {
      const { found } = await ask({ what: 'query', query })
      const { packed, ...columns } = present(found, 'rows')
      return { ...columns, rows: unpackRows(packed, columns.columnTypes) }
    },
    executeRaw: async (query) => (await ask({ what: 'execute', query })).changed,
    executeEach: async (sql, lists) => (await ask({ what: 'executeEach', sql, lists })).changed,
    executeScript: async (script) => void (await ask({ what: 'script', script })),
    endTransaction: async () => {
      if (isInTransaction) await ask({ what: 'endTransaction' })
    },
    close: async () => {
      if (isClosed) return
      try {
        await ask({ what: 'close' })
      } finally {
        await end()
      }
    },
  }
}

function errorOf(failure: SqliteFailure): Error {
  if (failure.isOfAdapter) return new DriverAdapterError(failure.cause)
  return Object.assign(new Error(failure.message), failure.fields)
}
