import type { LedgerUpdate as LedgerUpdateModel } from '../../generated/prisma/client.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { RawTx, SqlConnection, Tx } from '../client.ts'
import type { HistoryFacts } from '../contract/history.ts'
import type { LeaseState } from '../contract/lease.ts'
import type { StoreNotification } from '../contract.ts'
import type { LedgerUpdate } from '../rows.ts'
import type { Bulk } from './bulk.ts'
import type { TransactionInserts } from './transactions.ts'

/** All statements of a database: the bulk statements, and the statements that each database writes in its own way. */
export interface Statements
  extends Bulk,
    TransactionStatements,
    LeaseStatements,
    InboxStatements,
    TransactionInserts,
    LogStatements {
  /** Present if the database supports a log in partitions. */
  readonly partitions?: PartitionStatements
  /** Present if the database supports a log in shards on several servers. */
  readonly shards?: ShardStatements
}

/** Transaction of the writer, or its client outside a transaction, with the statements of the database. */
export interface Writing {
  readonly tx: Tx
  readonly sql: Statements
}

/** Same as `Writing`, for code that only runs raw statements. */
export interface RawWriting {
  readonly tx: RawTx
  readonly sql: Statements
}

/** Statements of a writing transaction that do not write rows. */
export interface TransactionStatements {
  /**
   * Sets the lock and idle timeouts of the transaction of a command, and turns off its other ones. Every writing transaction begins with
   * this or with `beginWritingAfter`.
   */
  beginWriting(tx: RawTx): Promise<void>
  /**
   * Raises the idle timeout for a transaction during which the program computes for long: the one that writes the first state of a
   * ledger, which no other process needs yet.
   */
  allowIdling(tx: RawTx): Promise<void>
  /** Sets the same timeouts for a gateway. Also returns the facts about the history in a slot and since. */
  beginWritingAfter(tx: RawTx, slot: SlotIndex): Promise<HistoryFacts>
  /** Updates the statistics of the planner after a bulk load. Without it, the planner assumes empty tables for minutes. */
  gatherStatistics(tx: RawTx): Promise<void>
  /** Blocks other transactions that set a chain record until the transaction ends. */
  lockChainRecords(tx: Tx): Promise<void>
  /** Blocks other transactions that prune the log until the transaction ends. */
  lockPruning(tx: Tx): Promise<void>
  /** Notifies all processes once the transaction is committed. */
  notify(tx: RawTx, notification: StoreNotification): Promise<void>
}

/** Statements on the lease. They use the clock of the database, so that two processes never compare two clocks. */
export interface LeaseStatements {
  /** Takes the lease if it is free or expired. Resolves to the new term, or to `undefined` if another process holds the lease. */
  claimLease(tx: Tx, holder: string, ttlMs: number): Promise<number | undefined>
  /** Reads the lease without waiting for locks. Resolves to `undefined` if no process ever took it. */
  readLease(tx: Tx): Promise<LeaseState | undefined>
  /**
   * Keeps other processes from taking the lease until the transaction ends. Resolves to whether the term is current. On a database with
   * concurrent writers, the inbox keeps accepting blocks meanwhile.
   */
  lockLease(tx: RawTx, term: number): Promise<boolean>
  /** Moves the expiry of the lease to `ttlMs` from now. Resolves to whether the term is current. */
  prolongLease(tx: RawTx, term: number, ttlMs: number): Promise<boolean>
  /** The same, by its holder: on PostgreSQL it also writes the timeline of the server, which earlier tables have no place for. */
  renewLease(tx: RawTx, term: number, ttlMs: number): Promise<boolean>
}

/** Statements of the inbox on the writer's row. */
export interface InboxStatements {
  /** Allocates `count` positions of the inbox. Resolves to `undefined` if no process ever took the lease. */
  allocatePositions(tx: RawTx, count: number): Promise<AllocatedPositions | undefined>
  /** Raises the first open slot to `openFrom` if it is lower. */
  raiseOpenFrom(tx: RawTx, openFrom: number): Promise<void>
  /** Replaces the `?` parameters of a text by those of this database. */
  numbered(text: string): string
}

export interface AllocatedPositions {
  readonly openFrom: bigint
  /** Position after the last allocated one. */
  readonly nextInbox: bigint
}

/** Statements on the newest rows of the log. */
export interface LogStatements {
  /** Reads the newest rows of addresses and classes, or their pruned tips if all their rows are pruned. */
  tips(tx: RawTx, keys: readonly TipKey[]): Promise<TipRow[]>
}

/** Statements on a log that may be partitioned by position. */
export interface PartitionStatements {
  /** Reads the partitions in the order of positions. The list is empty if the log is one table. */
  ofLog(tx: RawTx): Promise<readonly LogPartition[]>
  /**
   * Reads the last pruned position of a partitioned log. Rows up to it may still exist until their partition is dropped. It is 0 if the
   * log is one table.
   */
  hiddenUpTo(tx: RawTx): Promise<number>
  /**
   * Creates the partitions for rows up to a position, in the transaction that inserts the rows: a slot may be larger than the partitions
   * created ahead of time. That transaction has read the log, so the log is not partitioned meanwhile.
   */
  createUpTo(tx: RawTx, upTo: number): Promise<void>
  /** Whether the log has reached its newest partition, so that no empty partition is left. */
  isNextMissing(tx: RawTx): Promise<boolean>
  /** Creates the next partition if no empty one is left. */
  createNext(tx: RawTx): Promise<void>
  /**
   * Drops a partition whose rows are all hidden, once no session reads it. Resolves to whether the partition was dropped. The caller
   * retries until it was.
   */
  drop(tx: RawTx, partition: LogPartition): Promise<boolean>
}

/** Statements on a log that may be in shards on several servers. Distributing the log takes its own term, so a term never sees a change. */
export interface ShardStatements {
  /** Reads whether the log is in shards. */
  detect(tx: RawTx): Promise<boolean>
  /** Whether `detect` was ever called. */
  isKnown(): boolean
  /** Result of the last `detect`, which each term calls when it begins. */
  isOn(): boolean
  /** Same as in `LogStatements`, from the table of tips on the coordinator. */
  tips(tx: RawTx, keys: readonly TipKey[]): Promise<TipRow[]>
  /** Stores the newest rows of addresses and classes in the table of tips. */
  putTips(tx: RawTx, tips: readonly LogTipRow[]): Promise<void>
  /** Marks in each shard that it has the log up to a position. Throws unless each shard is marked with the former position. */
  mark(tx: RawTx, former: number, last: number): Promise<void>
  /** Whether every shard is marked with a position. */
  areMarked(tx: RawTx, seq: number): Promise<boolean>
  /** Reads the last pruned position. Rows up to it may still exist. */
  hiddenUpTo(tx: RawTx): Promise<number>
  /** Deletes up to `limit` positions of pruned rows, once no snapshot on the coordinator or a standby of it reads them. */
  removeHidden(tx: RawTx, prunedSeq: number, limit: number): Promise<void>
  /** Resolves transactions that were prepared in shards and neither committed nor rolled back. Must run outside a transaction. */
  recover(tx: RawTx): Promise<void>
}

/** Newest row of an address and class, as the table of tips beside a log in shards has it. */
export type LogTipRow = Pick<
  LedgerUpdate,
  'address' | 'class' | 'ordinal' | 'historyHash' | 'milestoneIndex'
>

export interface LogPartition {
  readonly name: string
  /** First position. */
  readonly from: number
  /** Position after the last one. */
  readonly to: number
}

/** Address and class: the key under which rows of the log are counted. */
export type TipKey = Pick<LedgerUpdate, 'address' | 'class'>

/** Tip of an address and class, from their newest row. */
export type TipRow = Pick<
  LedgerUpdateModel,
  'address' | 'class' | 'ordinal' | 'historyHash' | 'milestoneIndex'
>

/** Statements on Prisma's own table of applied migrations, so that the Prisma command line works on the database. */
export interface MigrationStatements {
  /** Begins a transaction that excludes migrations by other processes. */
  beginMigrating(connection: SqlConnection): Promise<void>
  /** Commits the transaction of `beginMigrating`. */
  commitMigrating(connection: SqlConnection): Promise<void>
  /** Rolls back the transaction of `beginMigrating`. */
  rollbackMigrating(connection: SqlConnection): Promise<void>
  /** Creates the table if it does not exist. */
  createMigrationTable(connection: SqlConnection): Promise<void>
  /** Reads the holder of the lease and its remaining time, by the clock of the database. Resolves to `undefined` if the lease is free. */
  leaseInForce(connection: SqlConnection): Promise<LeaseState | undefined>
  /** Runs the statements of one migration and records it as finished. */
  runMigration(connection: SqlConnection, migration: MigrationToRun): Promise<void>
}

/** Migration that is not applied yet. */
export interface MigrationToRun {
  readonly id: string
  readonly name: string
  readonly checksum: string
  readonly script: string
}

/** Statements on whole tables, for moving a database. */
export interface TableStatements {
  /** Begins a read-only transaction that sees one snapshot, whatever other connections write. */
  beginSnapshot(connection: SqlConnection): Promise<void>
  /** Ends the transaction of `beginSnapshot`. */
  endSnapshot(connection: SqlConnection): Promise<void>
  /** Describes the tables with these names that exist, sorted by name. Other tables, such as those of an extension, are ignored. */
  tables(connection: SqlConnection, names: ReadonlySet<string>): Promise<Table[]>
  /** Same as in `PartitionStatements`. Present if the database supports a log in partitions. */
  readonly hiddenUpTo?: (connection: SqlConnection) => Promise<number>
  /** Reads whether the log is in shards on several servers. A snapshot of such a log also shows newer rows. */
  readonly isSharded?: (connection: SqlConnection) => Promise<boolean>
  /**
   * Reads rows after a key in the order of keys. Each row is the text of a JSON array of its columns: bytes are hexadecimal digits,
   * integers are text because they may exceed the integers of JavaScript.
   */
  rowsAfterKey(connection: SqlConnection, table: Table, page: TablePage): Promise<string[]>
  /** Inserts rows in the form of `rowsAfterKey`, as one JSON array. Resolves to the number of rows. */
  insertRows(tx: Tx, table: Table, json: string): Promise<number>
}

/** Table as the database describes it. */
export interface Table {
  readonly name: string
  readonly columns: readonly Column[]
  /** Column names of the primary key, in order. */
  readonly key: readonly string[]
}

export interface Column {
  readonly name: string
  readonly kind: ColumnKind
}

export type ColumnKind = 'bytes' | 'integer' | 'text' | 'boolean'

export interface TablePage {
  /** Key values after which the page begins, as text. `undefined` for the first page. */
  readonly after: readonly string[] | undefined
  readonly limit: number
}
