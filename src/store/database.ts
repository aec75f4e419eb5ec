import type { ClientBase } from 'pg'
import type { Log } from '../lib/log.ts'
import type { Result } from '../lib/result.ts'
import type { Client, SqlConnection } from './client.ts'
import type { StoreNotification } from './contract.ts'
import type { DatabaseSpace, PoolLoad } from './load.ts'
import type { LogForms } from './log-forms.ts'
import type { RawConnection } from './raw-transactions.ts'
import type { MigrationStatements, Statements, TableStatements } from './sql/statements.ts'

/** What the store needs of a database of either kind. */

/** The database is not there, does not let us in, or is not what we need. */
export interface DatabaseUnusable {
  readonly code: 'DATABASE_UNUSABLE'
  /** Never holds a password. */
  readonly reason: string
}

/** Ways to connect to one database. */
export interface Database {
  readonly kind: 'sqlite' | 'postgresql'
  /** The statements in its dialect. */
  readonly statements: Statements
  /** The statements on whole tables in its dialect. */
  readonly tables: TableStatements
  readonly migrations: {
    /** Of the folder that holds one folder for each. */
    readonly path: string
    readonly statements: MigrationStatements
  }
  /** Asks it something, to learn whether it can be used, and whether this program has made tables in it; changes nothing. */
  probe(): Promise<Result<Probed, DatabaseUnusable>>
  /** A connection of its own, for one statement at a time; the caller disposes of it. */
  connect(): Promise<SqlConnection>
  /** The client of the writer. What it commits is on the disk. */
  readonly writer: Client
  /** Raw statements on the connection of the writer, past its client where that costs much. */
  readonly raw: RawConnection
  /** The client of the readers. */
  readonly reader: Client
  /**
   * Reads by a prepared statement past the client of the readers, which costs more than the database where rows are short
   * (docs/decisions/025-reads.md). Parameters are written `?` in their order, or `?1`; the number of texts is small, for each is kept
   * prepared. Rows are lists of columns: whole numbers are numbers, which SQLite refuses beyond 2^53, bytes are bytes.
   */
  query(sql: string, parameters: readonly Parameter[]): Promise<Rows>
  /**
   * The rows of one statement, and then those of another with as many columns of the same types, as of one moment. Parameters are
   * written `?1`, and a statement may leave out the last of them.
   */
  queryBoth(first: string, second: string, parameters: readonly Parameter[]): Promise<Rows>
  /** Whether the log is kept in partitions; left out where it cannot be. */
  readonly logForms?: Pick<LogForms, 'form' | 'named' | 'settle'> | undefined
  /** A connection for reads that are all of one moment; nothing is connected before it begins. */
  snapshotConnection(): SnapshotConnection
  /** How many of these connections there are at most. */
  readonly mostSnapshots: number
  /** A number that is another one after each change; `undefined` where only a read of what may have changed can tell. */
  changes(): number | undefined
  /** A text that is another one after each change, by a read where nothing less can tell. */
  version(): Promise<string>
  /** How busy the connections for reads are; `undefined` where there is one. */
  pool(): PoolLoad | undefined
  /**
   * Notifies of what any process does, and of the end of the log after a lost connection was restored. On SQLite no other
   * process can write, and there are no notifications.
   */
  listen(hear: (news: StoreNotification) => void): Listening
  /** Measures it and the disk under it. */
  space(): Promise<DatabaseSpace>
  /** Disconnects everything for good. */
  close(): Promise<void>
}

/** How long a snapshot may last. */
export const mostSnapshotMs = 10_000

/** A connection whose reads, from `begin` until `end`, are all of one moment. It can begin again. */
export interface SnapshotConnection extends Pick<Database, 'query' | 'queryBoth'> {
  begin(): Promise<void>
  /** Whether the moment is settled; where it is that of the first read, it is not before that is sent. */
  hasMoment(): boolean
  end(): Promise<void>
  /** Ends it for good. */
  close(): void
}

/** Rows as lists of columns. */
export type Rows = readonly (readonly unknown[])[]

/** A thousand full slots take seconds; only a bug takes minutes. */
export const transactionTimeoutMs = 120_000

/** What a database holds before it is opened: tables of this program, or nothing of it. */
export type Probed = 'TABLES' | 'NOTHING'

/** A parameter of a statement; numbers are whole. */
export type Parameter = Uint8Array | string | number | boolean | null

/** A subscription to the notifications of a database. */
export interface Listening {
  close(): Promise<void>
}

/** What a database is opened with. */
export interface DatabaseOptions {
  readonly url: string
  /** PostgreSQL behind a pooler: where to listen past it; `undefined` for the same URL. */
  readonly wakeUrl: string | undefined
  readonly log: StoreLog
  readonly writesOn?: WritesOn | undefined
  /** PostgreSQL: asked of each new connection before it is used; one that it fails for is not. */
  readonly onConnect?: ((client: ClientBase) => Promise<void>) | undefined
}

/**
 * Where the writer of a database in a file is: on the thread of the caller, or on one of its own, so that a program that serves others
 * meanwhile does not wait for statements and the disk. Here by default. A database on a server is elsewhere anyway.
 */
export type WritesOn = 'HERE' | 'THREAD'

/** Where a database logs failures outside of calls, and their end. */
export type StoreLog = Pick<Log, 'info' | 'warn'>
