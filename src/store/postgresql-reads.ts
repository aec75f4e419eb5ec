import { hash } from 'node:crypto'
import {
  type ClientBase,
  type CustomTypesConfig,
  Pool,
  type PoolClient,
  type PoolConfig,
  type QueryArrayConfig,
} from 'pg'
import { assert, present } from '../lib/assert.ts'
import { hexToBytes } from '../lib/hex.ts'
import {
  type Database,
  mostSnapshotMs,
  type Parameter,
  type Rows,
  type SnapshotConnection,
} from './database.ts'
import type { PoolLoad } from './load.ts'

/** The reads of PostgreSQL by the driver alone, on a pool of their own, by named prepared statements. */

/** Reads until it is closed. */
export interface PostgresqlReads
  extends Pick<Database, 'query' | 'queryBoth' | 'snapshotConnection'> {
  pool(): PoolLoad
  close(): Promise<void>
}

/** Nothing is connected before the first read. */
export function openReads(settings: PoolConfig): PostgresqlReads {
  const pool = new Pool({ ...settings, types })
  // An idle connection was lost; the pool makes another.
  pool.on('error', () => {})
  const statements = createStatements()
  let isClosed = false
  /** A pooler that gives out transactions loses names: what one connection prepared, the next does not know, or knows already. */
  let hasNames = true

  async function run(
    on: Pick<ClientBase, 'query'>,
    { text, name, values }: Statement,
  ): Promise<Rows> {
    const query: QueryArrayConfig = { text, values, rowMode: 'array' }
    const { rows } = await on.query<unknown[]>(name === undefined ? query : { ...query, name })
    return rows
  }

  function plainOf({ text, values }: Statement): Statement {
    return { text, values, name: undefined }
  }

  async function query(sql: string, parameters: readonly Parameter[]) {
    assert(!isClosed, 'the store is open')
    const statement = statements.of(sql, parameters)
    if (!hasNames) return await run(pool, plainOf(statement))
    try {
      return await run(pool, statement)
    } catch (failure) {
      if (statement.name === undefined || !isNameLost(failure)) throw failure
      hasNames = false
      return await run(pool, plainOf(statement))
    }
  }

  function snapshotConnection(): SnapshotConnection {
    let client: PoolClient | undefined
    /** Settled when the last statement is over, for the driver takes one at a time. */
    let last: Promise<unknown> = Promise.resolve()

    async function begin(): Promise<void> {
      assert(!isClosed, 'the store is open')
      const taken = await pool.connect()
      // A lost connection emits an event; the next statement fails anyway.
      taken.on('error', ignore)
      try {
        if (!(await beginSnapshot(taken))) hasNames = false
        client = taken
      } catch (failure) {
        giveBack(taken, true)
        throw failure
      }
    }

    function querySnapshot(sql: string, parameters: readonly Parameter[]): Promise<Rows> {
      const on = present(client, 'a snapshot that has begun')
      const statement = statements.of(sql, parameters)
      const ask = () => run(on, hasNames ? statement : plainOf(statement))
      const rows = last.then(ask, ask)
      last = rows
      return rows
    }

    async function end(): Promise<void> {
      const taken = present(client, 'a snapshot that has begun')
      client = undefined
      // What nobody waits for any more.
      await last.catch(ignore)
      try {
        await taken.query('COMMIT')
        giveBack(taken, false)
      } catch {
        // The connection is lost, and so is the transaction.
        giveBack(taken, true)
      }
    }

    function close(): void {
      if (client !== undefined) giveBack(client, true)
      client = undefined
    }

    const queryBoth = bothOf(querySnapshot)
    return { begin, query: querySnapshot, queryBoth, end, close }
  }

  async function close(): Promise<void> {
    if (isClosed) return
    isClosed = true
    await pool.end()
  }

  const poolLoad = () => ({
    open: pool.totalCount,
    idle: pool.idleCount,
    waiting: pool.waitingCount,
  })

  return { query, queryBoth: bothOf(query), snapshotConnection, pool: poolLoad, close }
}

/** The parts of a union come in the order written, and the rows in the order of their own part. */
function bothOf(query: Database['query']): Database['queryBoth'] {
  return (first, second, parameters) =>
    query(`${first} UNION ALL SELECT * FROM (${second}) AS second`, parameters)
}

/**
 * Begins a transaction whose reads are all of this moment. `false` where the server is not the one that the client connected
 * to: behind a pooler, names of statements are lost, and in a transaction a statement cannot be asked again without its name.
 */
async function beginSnapshot(client: PoolClient): Promise<boolean> {
  // Several statements in one text, for one round trip; the driver then gives a result for each. The server would go on with a
  // statement after its snapshot was left, until it has rows to send.
  const results: unknown = await client.query(
    `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${mostSnapshotMs}; SELECT pg_backend_pid() AS pid`,
  )
  const server: unknown = Array.isArray(results) ? results.at(-1)?.rows[0]?.pid : undefined
  return 'processID' in client && client.processID === server
}

function giveBack(client: PoolClient, isLost: boolean): void {
  client.off('error', ignore)
  client.release(isLost)
}

function ignore(): void {}

/** What is asked of the server. */
interface Statement {
  /** With the parameters as PostgreSQL counts them. */
  readonly text: string
  readonly name: string | undefined
  readonly values: unknown[]
}

/** A text of the program, as it is asked. */
interface Text {
  readonly numbered: string
  /** Where its limit is among the parameters, from 0 on. */
  readonly limitAt: number | undefined
  /** The text with a limit in it, by that limit. */
  readonly limited: Map<unknown, string>
}

/**
 * The statements of a pool. A usual limit is written into the text: PostgreSQL plans a named statement once for all values where that
 * seems no worse than to plan it each time, which takes as long as most of our reads, and of a limit that it does not know
 * it expects a tenth of all rows, so that it would plan each time, or sort where an index has the order.
 */
function createStatements() {
  const texts = new Map<string, Text>()
  // Each connection keeps each of them on the server. Texts that are put together may be many.
  const plainNames = new Map<string, string>()
  const limitedNames = new Map<string, string>()

  function textOf(sql: string): Text {
    const known = texts.get(sql)
    if (known !== undefined) return known
    const text = numbered(sql)
    const made = { numbered: text, limitAt: limitIn(text), limited: new Map() }
    if (texts.size < mostNamed) texts.set(sql, made)
    return made
  }

  function limitedOf(
    { numbered, limitAt, limited }: Text,
    parameters: readonly Parameter[],
  ): Statement | undefined {
    const limit = limitAt === undefined ? undefined : parameters[limitAt]
    if (limitAt === undefined || !usualLimits.has(limit)) return undefined
    const text = limited.get(limit) ?? withLimit(numbered, limitAt, String(limit))
    limited.set(limit, text)
    const name = nameIn(limitedNames, text)
    if (name === undefined) return undefined
    return { text, name, values: parameters.toSpliced(limitAt, 1) }
  }

  return {
    /** The text without its limit where there are too many with theirs: a client that asks for many page sizes takes no name from it. */
    of(sql: string, parameters: readonly Parameter[]): Statement {
      const text = textOf(sql)
      const limited = limitedOf(text, parameters)
      if (limited !== undefined) return limited
      const name = nameIn(plainNames, text.numbered)
      return { text: text.numbered, name, values: [...parameters] }
    },
  }
}

/** The name of a text, which has one where few have. */
function nameIn(names: Map<string, string>, text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= mostNamed) return known
  const name = nameOf(text)
  names.set(text, name)
  return name
}

/** Of pages, each with the row that says whether there are more, and of what is read at once. */
const usualLimits: ReadonlySet<unknown> = new Set([2, 6, 11, 21, 26, 51, 101, 201, 501, 1000, 1001])

/** The place of the parameter that is the last limit of a text, from 0 on, where it is nothing else. */
function limitIn(text: string): number | undefined {
  const last = [...text.matchAll(/LIMIT \$(\d+)\b/g)].at(-1)
  const isOnce = last !== undefined && text.split(new RegExp(`\\$${last[1]}\\b`)).length === 2
  return isOnce ? Number(last[1]) - 1 : undefined
}

/** Writes a limit in the place of its parameter, and numbers those behind it anew. */
function withLimit(text: string, limitAt: number, limit: string): string {
  return text.replaceAll(/\$(\d+)/g, (mark, digits) => {
    const at = Number(digits) - 1
    if (at === limitAt) return limit
    return at < limitAt ? mark : `$${at}`
  })
}

function numbered(sql: string): string {
  let count = 0
  return sql.replaceAll(/\?(\d*)/g, (_mark, place: string) => `$${place || ++count}`)
}

/** Made of the text: behind a pooler the name of another process means the same statement. */
function nameOf(sql: string): string {
  return `lg_${hash('sha256', sql).slice(0, 32)}`
}

/** invalid_sql_statement_name, duplicate_prepared_statement (PostgreSQL manual, appendix A). */
function isNameLost(failure: unknown): boolean {
  const code = failure instanceof Error && 'code' in failure ? failure.code : undefined
  return code === '26000' || code === '42P05'
}

/** The program's own texts are fewer than a hundred. */
const mostNamed = 200

/** What the columns of our tables are made of (pg_type): bytes, bigint and integers, truth values; all else stays text. */
const parsers: ReadonlyMap<number, (text: string) => unknown> = new Map([
  [16, (text: string): unknown => text === 't'],
  [17, (text: string) => hexToBytes(`0x${text.slice(2)}`)],
  [20, wholeNumber],
  [23, Number],
])

/** `getTypeParser` of the driver. */
const types = {
  getTypeParser: (type: number) => parsers.get(type) ?? String,
} as CustomTypesConfig

/** A number where it is exact. */
function wholeNumber(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}
