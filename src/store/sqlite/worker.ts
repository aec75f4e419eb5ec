import type { DatabaseSync } from 'node:sqlite'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { DriverAdapterError, type SqlQuery, type SqlResultSet } from '@prisma/driver-adapter-utils'
import { present } from '../../lib/assert.ts'
import { lowerThreadPriority } from '../../lib/thread-priority.ts'
import type { RawParameter } from '../client.ts'
import { openFile } from '../sql/sqlite/file.ts'
import { type PackedRows, packRows } from './packed-rows.ts'
import { type SqliteQueries, sqliteQueries } from './queries.ts'

/** The thread of `thread.ts`. It sends one response per request, in order. */

export type SqliteRequest =
  | { readonly what: 'open' }
  | { readonly what: 'endTransaction' }
  | { readonly what: 'close' }
  | { readonly what: 'query' | 'execute'; readonly query: SqlQuery }
  | {
      readonly what: 'executeEach'
      readonly sql: string
      readonly lists: readonly (readonly RawParameter[])[]
    }
  | { readonly what: 'script'; readonly script: string }

/** The response of the thread, and whether a transaction is open after it. */
export type SqliteResponse = { readonly isInTransaction: boolean } & (
  | { readonly ok: true; readonly changed: number; readonly found: PackedResult | undefined }
  | { readonly ok: false; readonly failure: SqliteFailure }
)

export interface PackedResult extends Omit<SqlResultSet, 'rows'> {
  readonly packed: PackedRows
}

/** A failure without its class, which a message between threads loses: the cause of an adapter error, or the members of another error. */
export type SqliteFailure =
  | { readonly isOfAdapter: true; readonly cause: DriverAdapterError['cause'] }
  | { readonly isOfAdapter: false; readonly message: string; readonly fields: object }

const port: MessagePort = present(parentPort, 'the port of a worker thread')
let database: DatabaseSync | undefined
let queries: SqliteQueries | undefined

// Readers do not wait for commits.
lowerThreadPriority('half')
port.on('message', async (request: SqliteRequest) => {
  const done = await outcomeOf(request)
  const isInTransaction = database?.isOpen === true && database.isTransaction
  const bytes = done.ok ? done.found?.packed.bytes : undefined
  const answer: SqliteResponse = { ...done, isInTransaction }
  port.postMessage(answer, bytes === undefined ? [] : [bytes.buffer as ArrayBuffer])
})

/** Runs a request. Nothing in it waits, so requests cannot overtake each other. */
async function outcomeOf(request: SqliteRequest) {
  try {
    return { ok: true, ...nothing, ...(await answerTo(request)) } as const
  } catch (failure) {
    return { ok: false, failure: withoutClass(failure) } as const
  }
}

interface Found {
  readonly changed: number
  readonly found: PackedResult | undefined
}

const nothing: Found = { changed: 0, found: undefined }

async function answerTo(request: SqliteRequest): Promise<Partial<Found>> {
  if (request.what === 'open') {
    database = openFile(String(workerData), 'WRITE')
    queries = sqliteQueries(database)
    return nothing
  }
  const open = present(queries, 'an open file')
  switch (request.what) {
    case 'query': {
      const { rows, ...columns } = await open.queryRaw(request.query)
      return { found: { ...columns, packed: packRows(rows, columns.columnTypes) } }
    }
    case 'execute':
      return { changed: await open.executeRaw(request.query) }
    case 'executeEach':
      return { changed: await open.executeEach(request.sql, request.lists) }
    case 'script':
      await open.executeScript(request.script)
      return nothing
    case 'endTransaction':
      await open.endTransaction()
      return nothing
    case 'close':
      await open.close()
      return nothing
    default:
      return request satisfies never
  }
}

function withoutClass(failure: unknown): SqliteFailure {
  if (failure instanceof DriverAdapterError) return { isOfAdapter: true, cause: failure.cause }
  if (!(failure instanceof Error)) {
    return { isOfAdapter: false, message: String(failure), fields: {} }
  }
  // The members include SQLite's code and number, which distinguish faults.
  return { isOfAdapter: false, message: failure.message, fields: { ...failure } }
}
