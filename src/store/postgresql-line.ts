import type { Connection, FieldDef, PoolClient } from 'pg'
import { present } from '../lib/assert.ts'
import { hexToBytes } from '../lib/hex.ts'
import type { Parameter, Rows } from './database.ts'
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

type Parser = (text: string) => unknown

/** A statement, until it is answered. */
interface Asked extends Statement {
  readonly resolve: ((rows: Rows) => void) | undefined
  readonly reject: ((failure: unknown) => void) | undefined
  readonly rows: unknown[][]
  /** Of its columns; `undefined` until the server has described them. */
  parsers: readonly Parser[] | undefined
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
  /** What the columns of a prepared statement are made of; empty for a command. */
  const prepared = new Map<string, readonly Parser[]>()
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
    client.query(batchOf(batch, prepared, over))
  }

  function over(): void {
    isOnItsWay = false
    if (asked.length > 0) plan()
    else for (const resolve of whenDrained.splice(0)) resolve()
  }

  return {
    ask: (statement) =>
      new Promise((resolve, reject) => {
        asked.push({ ...statement, resolve, reject, rows: [], parsers: undefined })
        plan()
      }),
    command: (statement) => {
      asked.push({
        ...statement,
        resolve: undefined,
        reject: undefined,
        rows: [],
        parsers: noColumns,
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

const noColumns: readonly Parser[] = []

/**
 * What the driver calls for the messages of a batch: the interface by which pg-cursor and pg-query-stream are queries too. After a
 * failure the server skips what follows up to the Sync.
 */
function batchOf(
  batch: readonly Asked[],
  prepared: Map<string, readonly Parser[]>,
  over: () => void,
) {
  let at = 0
  const current = () => present(batch[at], 'a statement that is on its way')

  function submit(connection: Connection): void {
    const { stream } = connection
    stream.cork()
    for (const one of batch) write(connection, one, prepared)
    connection.sync()
    stream.uncork()
  }

  return {
    submit,
    handleRowDescription: ({ fields }: { readonly fields: readonly FieldDef[] }) => {
      current().parsers = fields.map(({ dataTypeID }) => parsers.get(dataTypeID) ?? String)
    },
    handleDataRow: ({ fields }: { readonly fields: readonly (string | null)[] }) => {
      const { parsers: of = noColumns, rows } = current()
      rows.push(fields.map((field, i) => (field === null ? null : of[i]?.(field))))
    },
    handleCommandComplete: () => {
      const { name, parsers: of, rows, resolve } = current()
      if (name !== undefined && of !== undefined) prepared.set(name, of)
      at++
      resolve?.(rows)
    },
    handleEmptyQuery: () => {},
    handlePortalSuspended: () => {},
    handleReadyForQuery: over,
    handleError: (failure: unknown) => {
      // A connection that is lost after a failure fails once more.
      if (at === batch.length) return
      // It may have been prepared and then have failed.
      const { name } = current()
      if (name !== undefined) prepared.delete(name)
      for (const { reject } of batch.slice(at)) reject?.(failure)
      at = batch.length
      over()
    },
  }
}

function write(
  connection: Connection,
  asked: Asked,
  prepared: ReadonlyMap<string, readonly Parser[]>,
): void {
  const { name = '', text, values } = asked
  const known = name === '' ? undefined : prepared.get(name)
  if (known === undefined) {
    // Behind a pooler another process may have prepared it on this connection. To close what is not there is no error.
    if (name !== '') connection.close({ type: 'S', name }, true)
    connection.parse({ name, text, types: [] }, true)
  }
  connection.bind({ statement: name, values: values.map(boundAs) }, true)
  if (known === undefined && asked.parsers === undefined) connection.describe({ type: 'P' }, true)
  asked.parsers ??= known
  connection.execute({}, true)
}

function boundAs(value: Parameter): Buffer | string | null {
  if (value === null || typeof value === 'string') return value
  if (!(value instanceof Uint8Array)) return String(value)
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}

/** What the columns of our tables are made of (pg_type): bytes, bigint and integers, truth values; all else stays text. */
const parsers: ReadonlyMap<number, Parser> = new Map([
  [16, (text: string): unknown => text === 't'],
  [17, (text: string) => hexToBytes(`0x${text.slice(2)}`)],
  [20, wholeNumber],
  [23, Number],
])

/** A number where it is exact. */
function wholeNumber(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}
