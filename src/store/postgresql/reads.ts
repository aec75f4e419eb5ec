import { Pool, type PoolClient, type PoolConfig } from 'pg'
import { assert, present } from '../../lib/assert.ts'
import {
  type Database,
  maxSnapshotMs,
  type Parameter,
  type Rows,
  type SnapshotConnection,
} from '../database.ts'
import type { PoolLoad } from '../load.ts'
import { lockWaitOf, serverOf } from './lock-wait.ts'
import { type Pipeline, pipelineOf } from './pipeline.ts'
import { createReadBatches } from './read-batches.ts'
import { commandOf, createStatements, type Statement } from './statements.ts'

/** Reads of PostgreSQL through the driver alone, on a connection pool of their own, with named prepared statements. */

export interface PostgresqlReads
  extends Pick<Database, 'query' | 'queryBoth' | 'snapshotConnection'> {
  pool(): PoolLoad
  close(): Promise<void>
}

/** Creates the reads. The first read opens the first connection. */
export function openReads(settings: PoolConfig): PostgresqlReads {
  const connections = openConnections(settings)
  const { run } = createReadBatches(connections)
  const statements = createStatements()
  const names = createNames()
  const direct = new WeakSet<PoolClient>()

  async function query(sql: string, parameters: readonly Parameter[]) {
    const statement = names.named(statements.of(sql, parameters))
    try {
      return await run(statement)
    } catch (failure) {
      if (statement.name === undefined || !isNameLost(failure)) throw failure
      names.turnOff()
      return await run(names.named(statement))
    }
  }

  return {
    query,
    queryBoth: bothOf(query),
    snapshotConnection: () => createSnapshotConnection({ connections, statements, names, direct }),
    pool: connections.load,
    close: connections.close,
  }
}

/** The connection pool of the reads. */
interface Connections {
  take(): Promise<PoolClient>
  /** Whether the server closed a connection while it was in use. */
  isLost(client: PoolClient): boolean
  load(): PoolLoad
  close(): Promise<void>
}

function openConnections(settings: PoolConfig): Connections {
  const pool = new Pool(settings)
  const lost = new WeakSet<PoolClient>()
  let isClosed = false
  // An idle connection was lost; the pool opens another one.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    // On a connection in use the next statement fails anyway.
    client.on('error', () => lost.add(client))
    // The driver sends this before any other statement. If it fails, the connection is lost.
    client.query(`${shortReads}; ${lockWaitOf(client, maxSnapshotMs)}`).catch(() => {})
  })

  return {
    take: async () => {
      assert(!isClosed, 'the store is open')
      return await pool.connect()
    },
    isLost: (client) => lost.has(client),
    load: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: async () => {
      if (isClosed) return
      isClosed = true
      await pool.end()
    },
  }
}

/** Whether statements are sent with their names. */
interface StatementNames {
  named(statement: Statement): Statement
  turnOff(): void
}

/**
 * Names are on until a connection loses one: behind a pooler that assigns a server for each transaction, a statement that one
 * connection prepared is unknown to the next one, or is already known to it.
 */
function createNames(): StatementNames {
  let isOn = true
  return {
    named: (statement) => (isOn ? statement : { ...statement, name: undefined }),
    turnOff: () => {
      isOn = false
    },
  }
}

interface SnapshotDeps {
  readonly connections: Connections
  readonly statements: ReturnType<typeof createStatements>
  readonly names: StatementNames
  /** Connections to the server itself, without a pooler in between. */
  readonly direct: WeakSet<PoolClient>
}

function createSnapshotConnection(deps: SnapshotDeps): SnapshotConnection {
  const { connections, statements, names, direct } = deps
  let client: PoolClient | undefined
  let pipeline: Pipeline | undefined
  /** Message count of the pipeline when the snapshot began, if the first statement after that takes the snapshot. */
  let messages: number | 'ALL' | undefined
  const delayed = createDelayedCommit(commitNow)

  async function begin(): Promise<void> {
    delayed.stopTimer()
    messages = 'ALL'
    if (client !== undefined && connections.isLost(client)) close()
    client ??= await connections.take()
    pipeline = pipelineOf(client)
    // An abandoned statement may still fail, and fails every later statement of its message.
    await pipeline.drained()
    if (direct.has(client)) {
      addBeginning(pipeline, names, delayed.take())
      messages = pipeline.messages()
      return
    }
    messages = undefined
    try {
      if (await beginSnapshot(client)) direct.add(client)
      else names.turnOff()
    } catch (failure) {
      close()
      throw failure
    }
  }

  const query = (sql: string, parameters: readonly Parameter[]): Promise<Rows> =>
    present(pipeline, 'a snapshot that has begun').query(
      names.named(statements.of(sql, parameters)),
    )

  async function end(): Promise<void> {
    if (client === undefined) return
    // A pooler lends its server to other clients between two transactions.
    if (!direct.has(client)) return await commitNow()
    delayed.schedule()
  }

  async function commitNow(): Promise<void> {
    const taken = present(client, 'a connection with a transaction')
    client = undefined
    delayed.take()
    await commitAndRelease(taken, names.named(commit))
  }

  function close(): void {
    delayed.stopTimer()
    // No statement follows on this connection.
    if (delayed.take()) return void commitNow()
    client?.release(true)
    client = undefined
  }

  const hasMoment = () => messages !== 'ALL' && pipeline?.messages() !== messages
  return { begin, hasMoment, query, queryBoth: bothOf(query), end, close }
}

/** Adds the statements that begin a snapshot to the next message, after the COMMIT of the former snapshot. */
function addBeginning(pipeline: Pipeline, { named }: StatementNames, isCommitDue: boolean): void {
  if (isCommitDue) pipeline.command(named(commit))
  for (const command of beginning) pipeline.command(named(command))
}

/** The COMMIT of a finished snapshot. The message that begins the next snapshot carries it, or a timer sends it. */
function createDelayedCommit(send: () => Promise<void>) {
  let isDue = false
  let timer: NodeJS.Timeout | undefined

  return {
    schedule(): void {
      isDue = true
      timer = setTimeout(() => void send(), maxCommitDelayMs)
      timer.unref()
    },
    /** Stops the timer. The COMMIT stays due. */
    stopTimer(): void {
      clearTimeout(timer)
    },
    /** Returns whether the COMMIT was due. The caller then sends it. */
    take(): boolean {
      const wasDue = isDue
      isDue = false
      return wasDue
    },
  }
}

/** How long a COMMIT waits for the next snapshot on its connection. */
const maxCommitDelayMs = 25

async function commitAndRelease(client: PoolClient, commit: Statement): Promise<void> {
  try {
    await pipelineOf(client).query(commit)
    client.release()
  } catch {
    // The connection is lost, and its transaction with it.
    client.release(true)
  }
}

/** PostgreSQL returns the parts of this union in the order written, and the rows of each part in the part's own order. */
function bothOf(query: Database['query']): Database['queryBoth'] {
  return (first, second, parameters) =>
    query(`${first} UNION ALL SELECT * FROM (${second}) AS second`, parameters)
}

/** Begins a transaction in which every read sees the state that the first read saw. */
const begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'
/**
 * All reads are pages and rows by key. When PostgreSQL expects a filter to match few rows, it starts two parallel workers for a page,
 * which takes longer than the page itself, or compiles the statement.
 */
const shortReads = 'SET max_parallel_workers_per_gather = 0; SET jit = off'

/** Without this limit the server would continue a statement of an abandoned snapshot until it has rows to send. */
const limit = `SET LOCAL statement_timeout = ${maxSnapshotMs}`
const beginning = [commandOf(begin), commandOf(limit)]
const commit = commandOf('COMMIT')

/**
 * Begins the first transaction of a connection and takes its snapshot. Resolves to `false` if the server is not the one that the
 * client connected to: behind a pooler, statement names are lost, and a statement cannot be repeated without its name inside
 * a transaction.
 */
async function beginSnapshot(client: PoolClient): Promise<boolean> {
  // One text with several statements needs one round trip. The driver then returns one result per statement.
  const results: unknown = await client.query(`${begin}; ${limit}; SELECT pg_backend_pid() AS pid`)
  const server: unknown = Array.isArray(results) ? results.at(-1)?.rows[0]?.pid : undefined
  return serverOf(client) === server
}

/** invalid_sql_statement_name, duplicate_prepared_statement (PostgreSQL manual, appendix A). */
function isNameLost(failure: unknown): boolean {
  const code = failure instanceof Error && 'code' in failure ? failure.code : undefined
  return code === '26000' || code === '42P05'
}
