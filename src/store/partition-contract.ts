import type { Result } from '../lib/result.ts'
import type { RawTx } from './client.ts'
import type { MoveProgress } from './move/export.ts'
import type { ImportUnfinished } from './open.ts'
import type { RawConnection } from './raw-transactions.ts'
import type { LogPartition } from './sql/statements.ts'

/** What partitioning the log is asked for and says, and what its steps share. */

/** Why the log was not partitioned, or not as far as was wanted. */
export type PartitionError =
  /** The database has no partitions. */
  | { readonly code: 'PARTITIONS_NOT_SUPPORTED' }
  /** There is no ledger in the database. */
  | { readonly code: 'NOTHING_TO_PARTITION' }
  | ImportUnfinished
  /** The log is spread over several servers. */
  | { readonly code: 'LOG_IN_SHARDS' }
  /** What others have made on the log would not go with it. */
  | { readonly code: 'LOG_HAS_DEPENDENTS'; readonly dependents: readonly string[] }
  | { readonly code: 'PARTITION_INTERRUPTED' }

/** What it needs. */
export interface PartitionOptions {
  /** Positions of a partition; `undefined` for those of the newest one, or the usual number. */
  readonly rows: number | undefined
  /** Whether a partition that is larger is copied into smaller ones. */
  readonly isSplit: boolean
  readonly signal: AbortSignal
  /** Rows that are copied. */
  onProgress(progress: MoveProgress): void
  /** The sessions that are waited for, because they read the log for long. */
  onWaiting(reader: string): void
}

/** The log in partitions. */
export interface PartitionedLog {
  readonly partitions: readonly LogPartition[]
  /** The longest time for which no other session could read or write the log. */
  readonly lockedMs: number
}

/** What the steps share. */
export interface Partitioning extends PartitionOptions {
  readonly raw: RawConnection
  /** Another connection, for what others are to see before a transaction ends. */
  readonly beside: RawConnection
  readonly lock: LogLock
}

/** Keeps all other sessions from the log, for as short as it can. */
export interface LogLock {
  /** Waits until no session reads as of an earlier moment than this, here or at a standby. */
  afterReaders(): Promise<Result<void, PartitionError>>
  /** Does some work in a transaction, as soon as no session reads the log for long. */
  under(work: (tx: RawTx) => Promise<void>): Promise<Result<void, PartitionError>>
  /**
   * Prepares some work while the ledger is not written, and does it once no session reads the log for long or as of an earlier moment. It is
   * prepared again where that did not come soon, or where it was not finished.
   */
  afterWriters(exchange: Exchange): Promise<Result<void, PartitionError>>
  longestMs(): number
}

/** Tables that take the place of another. */
export interface Exchange {
  /** What others are to see before; whether that is all. Outside of the transaction. */
  prepare(): Promise<boolean>
  work(tx: RawTx): Promise<void>
}
