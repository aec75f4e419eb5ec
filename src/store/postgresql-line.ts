import type { Connection, FieldDef, PoolClient } from 'pg'
import { present } from '../lib/assert.ts'
import type { Rows } from './database.ts'
import {
  type ColumnReader,
  columnOf,
  type MessageReader,
  messagesOf,
  readMessages,
  type Sent,
  textColumn,
  valuesOf,
} from './postgresql-messages.ts'
import type { Statement } from './postgresql-statements.ts'

/**
 * Statements of one connection in batches. What is asked in one turn of the event loop goes in one message and is answered in one, by the
 * extended query protocol with one Sync (PostgreSQL manual, 54.2.3): the driver alone sends one statement at a time, and most of
 * the time that a short read takes in this process is spent on its message, its answer and the description of its columns.
 */

/** A connection of the pool, as it is asked. */
export interface Line {
  /** The rows of a statement. One that fails takes with it what was asked after it in its batch, as in a transaction. */
  ask(statement: Statement): Promise<Rows>
  /** A statement without rows, before what is asked next; its failure is that of what comes after it. */
  command(statement: Statement): void
  /** Sends what was asked so far, where nothing is on its way. */
  flush(): void
  /** How many messages were sent. */
  messages(): number
  /** Resolves when nothing is asked any more. */
  drained(): Promise<void>
}

/** A statement, until it is answered. */
interface Asked extends Statement {
  readonly resolve: ((rows: Rows) => void) | undefined
  readonly reject: ((failure: unknown) => void) | undefined
  readonly rows: unknown[][]
  /** How its columns come; `undefined` until the server has described them. */
  columns: readonly ColumnReader[] | undefined
  /** How they come the next time, where it described them. */
  later: readonly ColumnReader[] | undefined
}

const lines = new WeakMap<PoolClient, Line>()

/** The line of a connection; it is the same each time. */
export function lineOf(client: PoolClient): Line {
  const known = lines.get(client)
  if (known !== undefined) return known
  const line = createLine(client)
  lines.set(client, line)
  return line
}

function createLine(client: PoolClient): Line {
  /** How the columns of a prepared statement come; empty for a command. */
  const prepared = new Map<string, readonly ColumnReader[]>()
  /** Made with the first batch. */
  let reader: MessageReader | undefined
  let asked: Asked[] = []
  let messages = 0
  let isOnItsWay = false
  let isPlanned = false
  const whenDrained: (() => void)[] = []

  function plan(): void {
    if (isPlanned || isOnItsWay) return
    isPlanned = true
    // By then all who have their turn in this phase of the loop have asked.
    setImmediate(send)
  }

  function send(): void {
    isPlanned = false
    if (isOnItsWay || asked.length === 0) return
    const batch = asked
    asked = []
    isOnItsWay = true
    messages++
    client.query(batchOf(batch, { prepared, readerOf, over }))
  }

  function readerOf({ stream }: Connection): MessageReader {
    reader ??= readMessages(stream)
    return reader
  }

  function over(): void {
    isOnItsWay = false
    if (asked.length > 0) plan()
    else for (const resolve of whenDrained.splice(0)) resolve()
  }

  return {
    ask: (statement) =>
      new Promise((resolve, reject) => {
        const { text, name, values } = statement
        const known = { columns: undefined, later: undefined }
        asked.push({ text, name, values, resolve, reject, rows: [], ...known })
        plan()
      }),
    command: (statement) => {
      asked.push({
        ...statement,
        resolve: undefined,
        reject: undefined,
        rows: [],
        columns: noColumns,
        later: noColumns,
      })
    },
    flush: send,
    messages: () => messages,
    drained: async () => {
      if (!isOnItsWay && asked.length === 0) return
      plan()
      await new Promise<void>((resolve) => whenDrained.push(resolve))
    },
  }
}

const noColumns: readonly ColumnReader[] = []

interface BatchDeps {
  readonly prepared: Map<string, readonly ColumnReader[]>
  readonly readerOf: (connection: Connection) => MessageReader
  readonly over: () => void
}

/**
 * What the driver calls for the messages of a batch: the interface by which pg-cursor and pg-query-stream are queries too. Rows come
 * past it. After a failure the server skips what follows up to the Sync.
 */
function batchOf(batch: readonly Asked[], { prepared, readerOf, over }: BatchDeps) {
  let at = 0
  let reader: MessageReader | undefined
  const current = () => present(batch[at], 'a statement that is on its way')

  function submit(connection: Connection): void {
    reader = readerOf(connection)
    reader.answersTo = { row, complete }
    const { stream } = connection
    // What is lost already fails by its end.
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
    if (reader !== undefined) reader.answersTo = undefined
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
      // A connection that is lost after a failure fails once more.
      if (at === batch.length) return
      // It may have been prepared and then have failed.
      const { name } = current()
      if (name !== undefined) prepared.delete(name)
      for (const { reject } of batch.slice(at)) reject?.(failure)
      at = batch.length
      end()
    },
  }
}

function sentOf(asked: Asked, prepared: BatchDeps['prepared']): Sent {
  const { name = '', text, values } = asked
  const known = name === '' ? undefined : prepared.get(name)
  asked.columns ??= known
  return { name, text, values, isPrepared: known !== undefined, columns: asked.columns }
}
