import type { ClientBase } from 'pg'
import type { Log } from '../lib/log.ts'
import type { Result } from '../lib/result.ts'
import type { Client, SqlConnection } from './client.ts'
import type { StoreNotification } from './contract.ts'
import type { DatabaseSpace, PoolLoad } from './load.ts'
import type { LogForms } from './partitions/log-forms.ts'
import type { RawConnection } from './raw-transactions.ts'
import type { MigrationStatements, Statements, TableStatements } from './sql/statements.ts'

/** The interface of a database, of either kind, to the store. */

/** The database is missing, denies access, or does not meet the requirements. */
export interface DatabaseUnusable {
  readonly code: 'DATABASE_UNUSABLE'
  /** Reason for the operator, without passwords. */
  readonly reason: string
}

/** The connections and statements of one database. */
export interface Database {
  readonly kind: 'sqlite' | 'postgresql'
  readonly statements: Statements
  /** The statements on whole tables in its dialect. */
  readonly tables: TableStatements
  readonly migrations: {
    /** Path of the folder with one folder per migration. */
    readonly path: string
    readonly statements: MigrationStatements
  }
  /** Checks whether the database can be used, and whether it has tables of this program. Changes nothing. */
  probe(): Promise<Result<Probed, DatabaseUnusable>>
  /** Opens a separate connection for one statement at a time, by default on the thread of the writer. The caller disposes of it. */
  connect(on?: WritesOn): Promise<SqlConnection>
  /** The client of the writer. Its commits are durable on disk. */
  readonly writer: Client
  /** Raw statements on the connection of the writer. They bypass its client, which is expensive. */
  readonly raw: RawConnection
  readonly reader: Client
  /**
   * Reads with a prepared statement that bypasses the client of the readers, which costs more than the database for short rows
   * (docs/decisions/025-reads.md). Parameters are written `?` in their order, or `?1`. Callers use few different texts, because each stays
   * prepared. Rows are lists of columns. Integers are numbers, and SQLite rejects those above 2^53.
   */
  query(sql: string, parameters: readonly Parameter[]): Promise<Rows>
  /**
   * Reads the rows of one statement and then those of another with the same number and types of columns, both in one state.
   * Parameters are written `?1`, and a statement may omit the last of them.
   */
  queryBoth(first: string, second: string, parameters: readonly Parameter[]): Promise<Rows>
  /** Form of the log, such as its partitions; absent if the database supports only one table. */
  readonly logForms?: Pick<LogForms, 'form' | 'named' | 'settle'> | undefined
  /** Creates a connection for snapshots. It connects at the first `begin`. */
  snapshotConnection(): SnapshotConnection
  /** Maximum number of snapshot connections. */
  readonly maxSnapshots: number
  /** Returns a number that differs after each change; `undefined` if only a read of the data can detect changes. */
  changes(): number | undefined
  /** Returns a text that differs after each change. Reads from the database if necessary. */
  version(): Promise<string>
  /** Load of the read connections; `undefined` if there is only one. */
  pool(): PoolLoad | undefined
  /**
   * Calls `listener` with the notifications of all processes, and with the end of the log after a lost connection was restored. SQLite
   * has no notifications, because no other process can write.
   */
  listen(listener: (notification: StoreNotification) => void): Listening
  /** Measures the database and its disk. */
  space(): Promise<DatabaseSpace>
  /** Closes all connections for good. */
  close(): Promise<void>
}

/** Maximum duration of a snapshot in milliseconds. */
export const maxSnapshotMs = 10_000

/** A connection whose reads between `begin` and `end` all see the same state. It can begin again. */
export interface SnapshotConnection extends Pick<Database, 'query' | 'queryBoth'> {
  begin(): Promise<void>
  /** Whether the state of the snapshot is fixed. If the first read fixes it, `false` until that read is sent. */
  hasMoment(): boolean
  end(): Promise<void>
  /** Closes the connection for good. */
  close(): void
}

/** Rows as lists of columns. */
export type Rows = readonly (readonly unknown[])[]

/** Timeout of a transaction. A thousand full slots take seconds, and only a bug takes minutes. */
export const transactionTimeoutMs = 120_000

/** Content of a database before it is opened: tables of this program, or none of them. */
export type Probed = 'TABLES' | 'NOTHING'

/** A parameter of a statement. Numbers are integers. */
export type Parameter = Uint8Array | string | number | boolean | null

/** A subscription to the notifications of a database. */
export interface Listening {
  close(): Promise<void>
}

export interface DatabaseOptions {
  readonly url: string
  /** PostgreSQL behind a pooler: URL for notifications that bypasses the pooler; `undefined` for the same URL. */
  readonly wakeUrl: string | undefined
  readonly log: StoreLog
  readonly writesOn?: WritesOn | undefined
  /** PostgreSQL: called with each new connection before its first use. If it rejects, the connection is discarded. */
  readonly onConnect?: ((client: ClientBase) => Promise<void>) | undefined
}

/**
 * Thread of the writer of a database in a file: the thread of the caller (`HERE`, the default) or a separate thread, so that a program
 * that serves requests does not wait for statements and the disk. It has no effect on a database on a server.
 */
export type WritesOn = 'HERE' | 'THREAD'

/** The log for failures outside of calls, and for their end. */
export type StoreLog = Pick<Log, 'info' | 'warn'>
