import { Pool, type PoolClient, type PoolConfig } from 'pg'
import { assert, present } from '../lib/assert.ts'
import {
  type Database,
  mostSnapshotMs,
  type Parameter,
  type Rows,
  type SnapshotConnection,
} from './database.ts'
import type { PoolLoad } from './load.ts'
import { type Line, lineOf } from './postgresql-line.ts'
import { commandOf, createStatements, type Statement } from './postgresql-statements.ts'

/** The reads of PostgreSQL by the driver alone, on a pool of their own, by named prepared statements. */

/** Reads until it is closed. */
export interface PostgresqlReads
  extends Pick<Database, 'query' | 'queryBoth' | 'snapshotConnection'> {
  pool(): PoolLoad
  close(): Promise<void>
}

/** Nothing is connected before the first read. */
export function openReads(settings: PoolConfig): PostgresqlReads {
  const pool = new Pool(settings)
  const lost = new WeakSet<PoolClient>()
  // An idle connection was lost; the pool makes another.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    // On one that is in use the next statement fails anyway.
    client.on('error', () => lost.add(client))
    // Before all that is asked; a connection on which it fails is lost.
    client.query(shortReads).catch(() => {})
  })
  const statements = createStatements()
  /** Connections that lead to the server itself. */
  const direct = new WeakSet<PoolClient>()
  let isClosed = false
  /** A pooler that gives out transactions loses names: what one connection prepared, the next does not know, or knows already. */
  let hasNames = true

  function named(statement: Statement): Statement {
    return hasNames ? statement : { ...statement, name: undefined }
  }

  async function take(): Promise<PoolClient> {
    assert(!isClosed, 'the store is open')
    return await pool.connect()
  }

  async function run(statement: Statement): Promise<Rows> {
    const taken = await take()
    const line = lineOf(taken)
    try {
      const asked = line.ask(statement)
      line.flush()
      const rows = await asked
      taken.release()
      return rows
    } catch (failure) {
      // The server may report a failure before it closes the connection.
      taken.release(true)
      throw failure
    }
  }

  async function query(sql: string, parameters: readonly Parameter[]) {
    const statement = named(statements.of(sql, parameters))
    try {
      return await run(statement)
    } catch (failure) {
      if (statement.name === undefined || !isNameLost(failure)) throw failure
      hasNames = false
      return await run(named(statement))
    }
  }

  function snapshotConnection(): SnapshotConnection {
    let client: PoolClient | undefined
    let line: Line | undefined
    /** The messages of the line when the snapshot began, where it is taken by the first statement after them. */
    let messages: number | 'ALL' | undefined
    /** The transaction of the last snapshot is not ended yet: it ends in the message that begins the next one, or soon. */
    let isOwed = false
    let owed: NodeJS.Timeout | undefined

    async function begin(): Promise<void> {
      clearTimeout(owed)
      messages = 'ALL'
      if (client !== undefined && lost.has(client)) close()
      client ??= await take()
      line = lineOf(client)
      // What was asked and is not waited for any more may fail, and everything in its message with it.
      await line.drained()
      if (direct.has(client)) {
        if (isOwed) line.command(named(commit))
        isOwed = false
        for (const command of beginning) line.command(named(command))
        messages = line.messages()
        return
      }
      messages = undefined
      try {
        if (await beginSnapshot(client)) direct.add(client)
        else hasNames = false
      } catch (failure) {
        close()
        throw failure
      }
    }

    function querySnapshot(sql: string, parameters: readonly Parameter[]): Promise<Rows> {
      const begun = present(line, 'a snapshot that has begun')
      return begun.ask(named(statements.of(sql, parameters)))
    }

    async function end(): Promise<void> {
      if (client === undefined) return
      // A pooler lends its server to others between two transactions.
      if (!direct.has(client)) return await settle()
      isOwed = true
      owed = setTimeout(() => void settle(), mostOwedMs)
      owed.unref()
    }

    async function settle(): Promise<void> {
      const taken = present(client, 'a connection with a transaction')
      client = undefined
      isOwed = false
      try {
        await lineOf(taken).ask(named(commit))
        taken.release()
      } catch {
        // The connection is lost, and so is the transaction.
        taken.release(true)
      }
    }

    function close(): void {
      clearTimeout(owed)
      // Nothing is read on it any more.
      if (isOwed) return void settle()
      client?.release(true)
      client = undefined
    }

    return {
      begin,
      hasMoment: () => messages !== 'ALL' && line?.messages() !== messages,
      query: querySnapshot,
      queryBoth: bothOf(querySnapshot),
      end,
      close,
    }
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

/** How long the end of a transaction waits for the next one on its connection. */
const mostOwedMs = 25

/** The parts of a union come in the order written, and the rows in the order of their own part. */
function bothOf(query: Database['query']): Database['queryBoth'] {
  return (first, second, parameters) =>
    query(`${first} UNION ALL SELECT * FROM (${second}) AS second`, parameters)
}

/** A transaction whose reads are all of the moment of the first one. */
const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'
/**
 * Reads are pages and rows by their keys. Of a filter PostgreSQL may expect that few rows fulfil it, and starts two processes for a
 * page, which takes longer than the page; or compiles the statement.
 */
const shortReads = 'SET max_parallel_workers_per_gather = 0; SET jit = off'

/** The server would go on with a statement after its snapshot was left, until it has rows to send. */
const limit = `SET LOCAL statement_timeout = ${mostSnapshotMs}`
const beginning = [commandOf(begin), commandOf(limit)]
const commit = commandOf('COMMIT')

/**
 * Begins the first transaction of a connection, as of this moment. `false` where the server is not the one that the client connected
 * to: behind a pooler, names of statements are lost, and in a transaction a statement cannot be asked again without its name.
 */
async function beginSnapshot(client: PoolClient): Promise<boolean> {
  // Several statements in one text, for one round trip; the driver then gives a result for each.
  const results: unknown = await client.query(`${begin}; ${limit}; SELECT pg_backend_pid() AS pid`)
  const server: unknown = Array.isArray(results) ? results.at(-1)?.rows[0]?.pid : undefined
  return 'processID' in client && client.processID === server
}

/** invalid_sql_statement_name, duplicate_prepared_statement (PostgreSQL manual, appendix A). */
function isNameLost(failure: unknown): boolean {
  const code = failure instanceof Error && 'code' in failure ? failure.code : undefined
  return code === '26000' || code === '42P05'
}
