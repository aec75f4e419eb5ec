import type { RawTx } from '../client.ts'
import type { ImportUnfinished } from '../open.ts'

/** Options, results and errors of the distribution of the log. */

/** The reason why the log was not distributed. */
export type DistributeError =
  /** The database is a file. */
  | { readonly code: 'SHARDS_NOT_SUPPORTED' }
  /** The database does not have the extension. */
  | { readonly code: 'CITUS_MISSING' }
  /** There is no server for shards, or one of them cannot prepare transactions. */
  | { readonly code: 'WORKERS_MISSING'; readonly reason: string }
  /** The database has no ledger. */
  | { readonly code: 'NOTHING_TO_DISTRIBUTE' }
  | { readonly code: 'LOG_IN_PARTITIONS' }
  /** The log is already distributed into another number of shards. */
  | { readonly code: 'LOG_DISTRIBUTED'; readonly shards: number }
  | ImportUnfinished
  | { readonly code: 'DISTRIBUTION_INTERRUPTED' }

export interface DistributeOptions {
  /** Number of shards; by default two per worker. */
  readonly shards: number | undefined
  readonly signal: AbortSignal
  /** Milliseconds to wait until every process knows that functions read the log. */
  readonly knownMs: number
  /** Called with a session that the distribution waits for, because it has been reading the log for long. */
  onWaiting(reader: string): void
}

/** A group of statements. */
export interface DistributionStep {
  /** Description of the step. */
  readonly about: string
  /**
   * How the statements run. ALONE: each on its own. TOGETHER: in one transaction. KNOWN: in one transaction, followed by a wait until
   * every process knows of it. LOCKED: in one transaction while no other session reads the log.
   */
  readonly runs: 'ALONE' | 'TOGETHER' | 'KNOWN' | 'LOCKED'
  readonly statements: readonly string[]
  /** Whether an earlier run has completed the step. */
  isDone?(tx: RawTx): Promise<boolean>
}

export interface DistributedLog {
  readonly shards: number
  readonly workers: number
}
