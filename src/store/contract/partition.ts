import type { Result } from '../../lib/result.ts'
import type { RawTx } from '../client.ts'
import type { MoveProgress } from '../move/export.ts'
import type { ImportUnfinished } from '../open.ts'
import type { RawConnection } from '../raw-transactions.ts'
import type { LogPartition } from '../sql/statements.ts'

/** Options, results and errors of the partitioning of the log, and the dependencies of its steps. */

/** The reason why the log was not partitioned, or only in part. */
export type PartitionError =
  /** The database does not support partitions. */
  | { readonly code: 'PARTITIONS_NOT_SUPPORTED' }
  /** The database has no ledger. */
  | { readonly code: 'NOTHING_TO_PARTITION' }
  | ImportUnfinished
  /** The log is distributed over several servers. */
  | { readonly code: 'LOG_IN_SHARDS' }
  /** The log has objects of other programs, which would not move with it. */
  | { readonly code: 'LOG_HAS_DEPENDENTS'; readonly dependents: readonly string[] }
  | { readonly code: 'PARTITION_INTERRUPTED' }

export interface PartitionOptions {
  /** Positions per partition; `undefined` for the width of the newest partition, or the default width. */
  readonly rows: number | undefined
  /** Whether larger partitions are copied into smaller ones. */
  readonly isSplit: boolean
  readonly signal: AbortSignal
  /** Called with the number of copied rows. */
  onProgress(progress: MoveProgress): void
  /** Called with a session that the partitioning waits for, because it has been reading the log for long. */
  onWaiting(reader: string): void
}

export interface PartitionedLog {
  readonly partitions: readonly LogPartition[]
  /** Longest time in milliseconds for which no other session could read or write the log. */
  readonly lockedMs: number
}

export interface Partitioning extends PartitionOptions {
  readonly raw: RawConnection
  /** Another connection, for changes that other sessions have to see before a transaction ends. */
  readonly beside: RawConnection
  readonly lock: LogLock
}

/** Locks all other sessions out of the log, for as short a time as possible. */
export interface LogLock {
  /** Waits until no session on this server or a standby reads a state from before this call. */
  afterReaders(): Promise<Result<void, PartitionError>>
  /** Runs `work` in a transaction with the log locked, as soon as no session has been reading the log for long. */
  under(work: (tx: RawTx) => Promise<void>): Promise<Result<void, PartitionError>>
  /**
   * Prepares an exchange while the writer is locked out, and runs it once no session has been reading the log for long or reads an
   * older state. Repeats the preparation if this takes too long, or if the preparation was not complete.
   */
  afterWriters(exchange: Exchange): Promise<Result<void, PartitionError>>
  /** Longest time in milliseconds for which the log or the writer was locked. */
  longestMs(): number
}

/** The replacement of a table by other tables. */
export interface Exchange {
  /** Makes changes that other sessions have to see before the exchange, outside of its transaction. Resolves to whether it is complete. */
  prepare(): Promise<boolean>
  /** Runs the exchange in its transaction. */
  work(tx: RawTx): Promise<void>
}
