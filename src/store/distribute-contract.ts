import type { RawTx } from './client.ts'
import type { ImportUnfinished } from './open.ts'

/** What distributing the log is asked for and says. */

/** Why the log was not distributed. */
export type DistributeError =
  /** The database is a file. */
  | { readonly code: 'SHARDS_NOT_SUPPORTED' }
  /** The extension is not in the database. */
  | { readonly code: 'CITUS_MISSING' }
  /** There is no server for shards, or one that cannot prepare transactions. */
  | { readonly code: 'WORKERS_MISSING'; readonly reason: string }
  /** There is no ledger in the database. */
  | { readonly code: 'NOTHING_TO_DISTRIBUTE' }
  | { readonly code: 'LOG_IN_PARTITIONS' }
  /** Into another number of shards. */
  | { readonly code: 'LOG_DISTRIBUTED'; readonly shards: number }
  | ImportUnfinished
  | { readonly code: 'DISTRIBUTION_INTERRUPTED' }

/** What it needs. */
export interface DistributeOptions {
  /** Two for each worker, unless it is said. */
  readonly shards: number | undefined
  readonly signal: AbortSignal
  /** How long it waits until every process knows that the log is read by functions. */
  readonly knownMs: number
  /** The sessions that are waited for, because they read the log for long. */
  onWaiting(reader: string): void
}

/** Some statements that belong together. */
export interface DistributionStep {
  /** What it does, in words. */
  readonly about: string
  /** Each on its own; in one transaction; in one, and then every process knows of it; or in one while no other session reads the log. */
  readonly runs: 'ALONE' | 'TOGETHER' | 'KNOWN' | 'LOCKED'
  readonly statements: readonly string[]
  /** Whether it was done before. */
  isDone?(tx: RawTx): Promise<boolean>
}

/** The log in shards. */
export interface DistributedLog {
  readonly shards: number
  readonly workers: number
}
