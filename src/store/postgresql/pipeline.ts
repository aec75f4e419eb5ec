import type { Connection, FieldDef, PoolClient } from 'pg'
import { present } from '../../lib/assert.ts'
import { getOrInsert } from '../../lib/get-or-insert.ts'
import type { Rows } from '../database.ts'
import {
  type ColumnReader,
  columnOf,
  type MessageReader,
  messagesOf,
  readMessages,
  type Sent,
  textColumn,
  valuesOf,
} from './messages.ts'
import type { Statement } from './statements.ts'

/**
 * Pipelines the statements of one connection. All statements of one event loop turn form a batch: one message and one response, by the
 * extended query protocol with one Sync (PostgreSQL manual, 54.2.3). The driver alone sends one statement at a time, and a short read
 * spends most of its time in this process on its message, its response and the description of its columns.
 */

/** The pipeline of one pooled connection. */
export interface Pipeline {
  /** Returns the rows of a statement. A statement that fails also fails the later statements of its batch, as in a transaction. */
  query(statement: Statement): Promise<Rows>
  /** Adds a statement without rows before the next one. If it fails, the next statement rejects with that failure. */
  command(statement: Statement): void
  /** Sends the pending statements, unless a batch is in flight. */
  flush(): void
  messages(): number
  /** Resolves when no statement is pending or in flight. */
  drained(): Promise<void>
}

interface Pending extends Statement {
  readonly resolve: ((rows: Rows) => void) | undefined
  readonly reject: ((failure: unknown) => void) | undefined
  readonly rows: unknown[][]
  /** Readers of its columns; `undefined` until the server has described them. */
  columns: readonly ColumnReader[] | undefined
  /** Readers for the next execution; `undefined` if the server did not describe the columns this time. */
  later: readonly ColumnReader[] | undefined
}

const pipelines = new WeakMap<PoolClient, Pipeline>()

/** Returns the pipeline of a connection, always the same one. */
export function pipelineOf(client: PoolClient): Pipeline {
  return getOrInsert(pipelines, client, () => createPipeline(client))
}

function createPipeline(client: PoolClient): Pipeline {
  /** Column readers of prepared statements by name; empty for a command. */
  const prepared = new Map<string, readonly ColumnReader[]>()
  /** Created with the first batch. */
  let reader: MessageReader | undefined
  let pending: Pending[] = []
  let messages = 0
  let isInFlight = false
  let isPlanned = false
  const whenDrained: (() => void)[] = []

  function plan(): void {
    if (isPlanned || isInFlight) return
    isPlanned = true
    // By then all requests of this phase of the event loop have added their statements.
    setImmediate(send)
  }

  function send(): void {
    isPlanned = false
    if (isInFlight || pending.length === 0) return
    const batch = pending
    pending = []
    isInFlight = true
    messages++
    client.query(batchOf(batch, { prepared, readerOf, over }))
  }

  function readerOf({ stream }: Connection): MessageReader {
    reader ??= readMessages(stream)
    return reader
  }

  function over(): void {
    isInFlight = false
    if (pending.length > 0) plan()
    else for (const resolve of whenDrained.splice(0)) resolve()
  }

  return {
    query: (statement) =>
      new Promise((resolve, reject) => {
        const { text, name, values } = statement
        const known = { columns: undefined, later: undefined }
        pending.push({ text, name, values, resolve, reject, rows: [], ...known })
        plan()
      }),
    command: (statement) => void pending.push(commandOf(statement)),
    flush: send,
    messages: () => messages,
    drained: async () => {
      if (!isInFlight && pending.length === 0) return
      plan()
      await new Promise<void>((resolve) => whenDrained.push(resolve))
    },
  }
}

function commandOf(statement: Statement): Pending {
  const unanswered = { resolve: undefined, reject: undefined }
  return { ...statement, ...unanswered, rows: [], columns: noColumns, later: noColumns }
}

const noColumns: readonly ColumnReader[] = []

interface BatchDeps {
  readonly prepared: Map<string, readonly ColumnReader[]>
  readonly readerOf: (connection: Connection) => MessageReader
  readonly over: () => void
}

/**
 * The callbacks that the driver calls for a batch: the query interface that pg-cursor and pg-query-stream also implement. Rows bypass
 * the driver. After a failure the server skips all statements up to the Sync.
 */
function batchOf(batch: readonly Pending[], { prepared, readerOf, over }: BatchDeps) {
  let at = 0
  let isOver = false
  let reader: MessageReader | undefined
  const current = () => present(batch[at], 'a statement that is in flight')

  function submit(connection: Connection): void {
    reader = readerOf(connection)
    reader.receiver = { row, complete }
    const { stream } = connection
    // A lost connection fails the batch when the stream ends.
    if (stream.writable) stream.write(messagesOf(batch.map((one) => sentOf(one, prepared))))
  }

  function row(bytes: Buffer, start: number): void {
    const { columns = noColumns, rows } = current()
    rows.push(valuesOf(columns, bytes, start))
  }

  function complete(): void {
    const { name, later, rows, resolve } = current()
    if (name !== undefined && later !== undefined) prepared.set(name, later)
    at++
    resolve?.(rows)
  }

  function end(): void {
    isOver = true
    if (reader !== undefined) reader.receiver = undefined
    over()
  }

  return {
    submit,
    handleRowDescription: ({ fields }: { readonly fields: readonly FieldDef[] }) => {
      const one = current()
      one.columns = fields.map(({ dataTypeID }) => textColumn(dataTypeID))
      one.later = fields.map(({ dataTypeID }) => columnOf(dataTypeID))
    },
    handlePortalSuspended: () => {},
    handleReadyForQuery: end,
    handleError: (failure: unknown) => {
      // A connection that is lost after a failure calls this once more.
      if (isOver) return
      // The server may have prepared the statement before it failed. If it crashes, all statements may have their responses already.
      const name = batch[at]?.name
      if (name !== undefined) prepared.delete(name)
      for (const { reject } of batch.slice(at)) reject?.(failure)
      at = batch.length
      end()
    },
  }
}

function sentOf(pending: Pending, prepared: BatchDeps['prepared']): Sent {
  const { name = '', text, values } = pending
  const known = name === '' ? undefined : prepared.get(name)
  pending.columns ??= known
  return { name, text, values, isPrepared: known !== undefined, columns: pending.columns }
}
