import type { LedgerUpdate as LedgerUpdateModel } from '../../generated/prisma/client.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { RawTx, SqlConnection, Tx } from '../client.ts'
import type { StoreNotification } from '../contract.ts'
import type { HistoryFacts } from '../history-contract.ts'
import type { LeaseState } from '../lease-contract.ts'
import type { LedgerUpdate } from '../rows.ts'
import type { Bulk } from './bulk.ts'
import type { TransactionInserts } from './transactions.ts'

/** The bulk statements, and those that each database writes in its own way. */
export interface Statements
  extends Bulk,
    TransactionStatements,
    LeaseStatements,
    InboxStatements,
    TransactionInserts,
    LogStatements {
  /** Where the database can keep the log in partitions. */
  readonly partitions?: PartitionStatements
  /** Where the database can keep the log in shards on several servers. */
  readonly shards?: ShardStatements
}

/** A transaction of the writer, or its client outside of one, with the statements of its database. */
export interface Writing {
  readonly tx: Tx
  readonly sql: Statements
}

/** The same where raw statements are all that is needed. */
export interface RawWriting {
  readonly tx: RawTx
  readonly sql: Statements
}

/** What a writing transaction does besides writing. */
export interface TransactionStatements {
  /** Settles how long the transaction may wait and idle; the first statement of each. */
  beginWriting(tx: RawTx): Promise<void>
  /** Lets the transaction idle while the program computes for long: for the first state of a ledger, which no other process needs yet. */
  allowIdling(tx: RawTx): Promise<void>
  /** The same, and what the database says of its history in a slot and since. */
  beginWritingAfter(tx: RawTx, slot: SlotIndex): Promise<HistoryFacts>
  /** Has the planner look at the tables after many rows have come at once; otherwise it would for minutes plan for tables that are empty. */
  gatherStatistics(tx: RawTx): Promise<void>
  /** Keeps others from setting the record of a chain until the transaction ends. */
  lockChainRecords(tx: Tx): Promise<void>
  /** Notifies all processes, once the transaction is committed. */
  notify(tx: RawTx, news: StoreNotification): Promise<void>
}

/** The lease by the database's clock, so that two processes never compare two clocks. */
export interface LeaseStatements {
  /** Takes the lease if it is free or has run out; the new term, or `undefined` when another process holds it. */
  claimLease(tx: Tx, holder: string, ttlMs: number): Promise<number | undefined>
  /** The lease as it is now; `undefined` if it was never taken. Does not wait for locks. */
  readLease(tx: Tx): Promise<LeaseState | undefined>
  /**
   * Keeps other processes from taking the lease until the transaction ends, if the term is still the holder's. Blocks may come in
   * all the while, where the database can do two things at once.
   */
  lockLease(tx: RawTx, term: number): Promise<boolean>
  /** Moves the end of the lease to `ttlMs` from now; whether the term is still the holder's. */
  prolongLease(tx: RawTx, term: number, ttlMs: number): Promise<boolean>
}

/** The writer's row as the inbox needs it. */
export interface InboxStatements {
  /** Takes so many places of the inbox; `undefined` if the lease was never taken. */
  takePlaces(tx: RawTx, count: number): Promise<TakenPlaces | undefined>
  /** Raises the first open slot to `openFrom`, if it is lower. */
  raiseOpenFrom(tx: RawTx, openFrom: number): Promise<void>
  /** The text with its parameters, which are written `?`, as this database has them. */
  numbered(text: string): string
}

/** Places of the inbox. */
export interface TakenPlaces {
  readonly openFrom: bigint
  /** The place after the last one. */
  readonly nextInbox: bigint
}

/** The newest rows of the log. */
export interface LogStatements {
  /** The newest rows of some addresses and classes, or where these are removed the tips that are kept of them. */
  tips(tx: RawTx, keys: readonly TipKey[]): Promise<TipRow[]>
}

/** The log in partitions by position, where it was partitioned. */
export interface PartitionStatements {
  /** In the order of positions; none where the log is in one table. */
  ofLog(tx: RawTx): Promise<readonly LogPartition[]>
  /** Rows up to this position are pruned and may be there still, until their whole partition goes; 0 where the log is in one table. */
  hiddenUpTo(tx: RawTx): Promise<number>
  /**
   * Makes the partitions of rows up to a position, in the transaction that adds the rows: a slot may be larger than what was made ahead of
   * time. That transaction has read the log, so that it is not partitioned meanwhile.
   */
  makeRoom(tx: RawTx, upTo: number): Promise<void>
  /** Whether the log has come to its newest partition, so that none is free ahead of it. */
  isRoomShort(tx: RawTx): Promise<boolean>
  /** Makes the next one, where that is so. */
  makeNext(tx: RawTx): Promise<void>
  /** Drops one whose rows are all hidden, once no session reads it; whether it is gone. It is asked again until it is. */
  drop(tx: RawTx, partition: LogPartition): Promise<boolean>
}

/** The log in shards on several servers, where it was distributed. It is distributed under a term of its own, so the others hold for a term. */
export interface ShardStatements {
  /** Looks whether it is in shards. */
  look(tx: RawTx): Promise<boolean>
  /** Whether it was ever looked. */
  isKnown(): boolean
  /** What was seen last: at the beginning of a term, for the log is distributed in a term of its own. */
  isOn(): boolean
  /** As `LogStatements` has it, from what is kept beside the shards. */
  tips(tx: RawTx, keys: readonly TipKey[]): Promise<TipRow[]>
  /** Keeps the newest rows of some addresses and classes. */
  putTips(tx: RawTx, tips: readonly LogTipRow[]): Promise<void>
  /** Marks in each shard that it has the log up to a position; fails unless each was marked with the former one. */
  mark(tx: RawTx, former: number, last: number): Promise<void>
  /** Whether each shard is marked with a position. */
  areMarked(tx: RawTx, seq: number): Promise<boolean>
  /** Rows up to this position are pruned, and may be there still. */
  hiddenUpTo(tx: RawTx): Promise<number>
  /** Removes some of the rows that are pruned up to a position, once no snapshot reads them. */
  removeHidden(tx: RawTx, prunedSeq: number, limit: number): Promise<void>
  /** Ends what was prepared in shards and neither committed nor rolled back; outside of a transaction. */
  recover(tx: RawTx): Promise<void>
}

/** The newest row of an address and class, as it is kept beside a log in shards. */
export type LogTipRow = Pick<
  LedgerUpdate,
  'address' | 'class' | 'ordinal' | 'historyHash' | 'milestoneIndex'
>

/** A partition of the log. */
export interface LogPartition {
  /** Of its table. */
  readonly name: string
  /** The first position. */
  readonly from: number
  /** The position behind the last one. */
  readonly to: number
}

/** Whose rows are counted together. */
export type TipKey = Pick<LedgerUpdate, 'address' | 'class'>

/** The tip of an address and class in their newest row. */
export type TipRow = Pick<
  LedgerUpdateModel,
  'address' | 'class' | 'ordinal' | 'historyHash' | 'milestoneIndex'
>

/** Prisma's own table of applied migrations, with its columns, so that its command line understands our databases. */
export interface MigrationStatements {
  /** Begins a transaction that other processes on the database must wait for. */
  beginMigrating(connection: SqlConnection): Promise<void>
  /** Makes all that was done since `beginMigrating` last. */
  commitMigrating(connection: SqlConnection): Promise<void>
  /** Undoes all that was done since `beginMigrating`. */
  rollbackMigrating(connection: SqlConnection): Promise<void>
  /** Makes the table where there is none. */
  createMigrationTable(connection: SqlConnection): Promise<void>
  /** Who holds the lease, and for how long, by the clock of the database; `undefined` where it is free. */
  leaseInForce(connection: SqlConnection): Promise<Omit<LeaseState, 'term'> | undefined>
  /** Runs the statements of one migration and records it as finished. */
  runMigration(connection: SqlConnection, migration: MigrationToRun): Promise<void>
}

/** A migration that is not applied yet. */
export interface MigrationToRun {
  readonly id: string
  readonly name: string
  readonly checksum: string
  readonly script: string
}

/** Whole tables, for moving a database. */
export interface TableStatements {
  /** Begins a transaction that sees everything as of now, whatever is written meanwhile, and writes nothing. */
  beginSnapshot(connection: SqlConnection): Promise<void>
  /** Ends it. */
  endSnapshot(connection: SqlConnection): Promise<void>
  /** Those tables of these names that there are, by name. Others may stand beside them, as those of an extension. */
  tables(connection: SqlConnection, names: ReadonlySet<string>): Promise<Table[]>
  /** As `PartitionStatements` has it, where the database can keep the log in partitions. */
  readonly hiddenUpTo?: (connection: SqlConnection) => Promise<number>
  /** Whether the log is in shards on several servers, of which a snapshot shows rows that are newer than it. */
  readonly isSharded?: (connection: SqlConnection) => Promise<boolean>
  /**
   * Rows after a key in the order of keys, each as the text of a JSON array of its columns: bytes as hexadecimal
   * digits, whole numbers as text, for they may be larger than those of JavaScript.
   */
  rowsBehind(connection: SqlConnection, table: Table, page: TablePage): Promise<string[]>
  /** Adds rows of that form, given as one JSON array of them; gives how many. */
  insertRows(tx: Tx, table: Table, json: string): Promise<number>
}

/** A table as the database itself describes it. */
export interface Table {
  readonly name: string
  readonly columns: readonly Column[]
  /** Names of the columns of its primary key, in their order. */
  readonly key: readonly string[]
}

/** A column of a table. */
export interface Column {
  readonly name: string
  readonly kind: ColumnKind
}

/** The kind of values in a column. */
export type ColumnKind = 'bytes' | 'integer' | 'text' | 'boolean'

/** Which rows of a table. */
export interface TablePage {
  /** The values of the key columns, in the form of a row; `undefined` for the first page. */
  readonly after: readonly string[] | undefined
  readonly limit: number
}
