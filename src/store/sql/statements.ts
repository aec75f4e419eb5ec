import type {
  LedgerUpdate as LedgerUpdateModel,
  Output,
  Prisma,
  Transaction as TransactionModel,
} from '../../generated/prisma/client.ts'
import type { BlockId, OutputId, TransactionId } from '../../protocol/primitives.ts'
import type { SqlConnection } from '../connect.ts'
import type {
  BookedTransaction,
  CreatedOutput,
  LeaseState,
  SpentOutput,
  StoreNotification,
} from '../contract.ts'
import type { BlockRow, LedgerUpdate, Milestone, PrunedTip, TransactionRow } from '../rows.ts'
import type { ViewStatements } from './view-statements.ts'
import type { WaitingStatements } from './waiting-statements.ts'

/**
 * The statements that each database says in its own words. Bulk statements take one JSON parameter, for that is 27 times
 * as fast as rows of parameters; those that change rows give the number of rows changed, for the caller to check.
 */
export interface Statements
  extends TransactionStatements,
    LeaseStatements,
    InboxStatements,
    BookingStatements,
    LogStatements,
    ViewStatements,
    WaitingStatements {}

/** A transaction of the writer, or its client outside of one, and how its database is spoken to. */
export interface Writing {
  readonly tx: Tx
  readonly sql: Statements
}

type Tx = Prisma.TransactionClient

/** What a writing transaction does besides writing. */
export interface TransactionStatements {
  /** Settles how long the transaction may wait and idle; the first statement of each. */
  beginWriting(tx: Tx): Promise<void>
  /** Keeps others from setting the record of a chain until the transaction ends. */
  lockChainRecords(tx: Tx): Promise<void>
  /** Tells all processes, once the transaction is committed. */
  notify(tx: Tx, news: StoreNotification): Promise<void>
}

/** The lease by the database's clock, so that two processes never compare two clocks. */
export interface LeaseStatements {
  /** Takes the lease if it is free or has run out; the new term, or `undefined` when somebody holds it. */
  claimLease(tx: Tx, holder: string, ttlMs: number): Promise<number | undefined>
  /** The lease as it stands; `undefined` where nobody ever took it. Waits for nobody. */
  readLease(tx: Tx): Promise<LeaseState | undefined>
  /**
   * Keeps everybody from taking the lease until the transaction ends, if the term is still the holder's. Blocks may come in
   * all the while, where the database can do two things at once.
   */
  lockLease(tx: Tx, term: number): Promise<boolean>
  /** Moves the end of the lease to `ttlMs` from now; whether the term is still the holder's. */
  prolongLease(tx: Tx, term: number, ttlMs: number): Promise<boolean>
}

/** The bulk statements of the inbox. */
export interface InboxStatements {
  /** Those of the blocks that the inbox has already. */
  knownBlocks(tx: Tx, blockIds: readonly BlockId[]): Promise<Set<BlockId>>
  /** Adds blocks as pending, all of them new. */
  insertBlocks(tx: Tx, blocks: readonly Omit<BlockRow, 'state'>[]): Promise<void>
  /** Adds references between blocks, all of them new. */
  insertParents(tx: Tx, references: readonly BlockReference[]): Promise<void>
  /**
   * Adds transactions as pending, each once. One that is known keeps its row, and where it is pending still, or failed for
   * what its carriers brought, it has more carriers to be judged and is pending (again).
   */
  insertTransactions(tx: Tx, carried: readonly CarriedTransaction[]): Promise<void>
}

/** A block that refers to another. */
export interface BlockReference {
  readonly parent: BlockId
  readonly child: BlockId
}

/** A transaction with the first of the new blocks that brought it. */
export interface CarriedTransaction {
  readonly transactionId: TransactionId
  readonly blockId: BlockId
  readonly slot: number
  /** How many they are. */
  readonly carriers: number
}

/** The bulk statements of booking. */
export interface BookingStatements {
  /** The outputs of some ids, as far as they exist. */
  outputsByIds(tx: Tx, outputIds: readonly OutputId[]): Promise<Output[]>
  /** The transactions of some ids, as far as they are known. */
  transactionsByIds(tx: Tx, transactionIds: readonly TransactionId[]): Promise<TransactionModel[]>
  /** Gives pending blocks their state. */
  markBlocks(tx: Tx, blocks: readonly Pick<BlockRow, 'blockId' | 'state'>[]): Promise<number>
  /** Gives pending transactions, and those that failed for what their carriers brought, their verdict. */
  markTransactions(
    tx: Tx,
    transactions: readonly (Omit<BookedTransaction, 'state'> & Pick<TransactionRow, 'state'>)[],
  ): Promise<number>
  /** Makes those of some transactions pending again that have carriers which are not judged. */
  reopenTransactions(tx: Tx, transactionIds: readonly TransactionId[]): Promise<void>
  /** Adds outputs, all of them new and unspent. */
  insertOutputs(tx: Tx, outputs: readonly CreatedOutput[]): Promise<number>
  /** Spends outputs that are unspent. */
  spendOutputs(tx: Tx, outputs: readonly SpentOutput[]): Promise<number>
}

/** The bulk statements of a slot's commit. */
export interface LogStatements {
  /** Where some addresses and classes stand: their newest rows, or where these are given up what is kept of them. */
  tips(tx: Tx, keys: readonly TipKey[]): Promise<TipRow[]>
  /** Appends rows to the log. */
  insertUpdates(tx: Tx, updates: readonly LedgerUpdate[]): Promise<void>
  /** Moves the places where the given-up part of the log ended. */
  raisePrunedTips(tx: Tx, newest: readonly PrunedTip[]): Promise<void>
  /** Adds committed slots. */
  insertCommitments(tx: Tx, milestones: readonly Milestone[]): Promise<void>
}

/** Whose rows are counted together. */
export type TipKey = Pick<LedgerUpdate, 'address' | 'class'>

/** What the newest row of an address and class says of where they stand. */
export type TipRow = Pick<LedgerUpdateModel, 'address' | 'class' | 'ordinal' | 'historyHash'>

/** Prisma's own table of applied migrations, with its columns, so that its command line understands our databases. */
export interface MigrationStatements {
  /** Begins a transaction that other processes on the database must wait for. */
  beginMigrating(connection: SqlConnection): Promise<void>
  /** Makes all that was done since `beginMigrating` last. */
  commitMigrating(connection: SqlConnection): Promise<void>
  /** Undoes all that was done since `beginMigrating`. */
  rollbackMigrating(connection: SqlConnection): Promise<void>
  /** The migrations that were begun and not rolled back, by name; makes the table where there is none. */
  recordedMigrations(connection: SqlConnection): Promise<MigrationRecord[]>
  /** Runs the statements of one migration and records it as finished. */
  runMigration(connection: SqlConnection, migration: MigrationToRun): Promise<void>
}

/** A migration as the table has it. */
export interface MigrationRecord {
  readonly name: string
  readonly checksum: string
  readonly isFinished: boolean
}

/** A migration that the database has not. */
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
  /** Every table but that of the migrations, by name. */
  tables(connection: SqlConnection): Promise<Table[]>
  countRows(connection: SqlConnection, table: Table): Promise<number>
  /**
   * Rows behind a key in the order of keys, each as the text of a JSON array of its columns: bytes as hexadecimal
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

/** What stands in a column. */
export type ColumnKind = 'bytes' | 'integer' | 'text' | 'boolean'

/** Which rows of a table. */
export interface TablePage {
  /** The values of the key columns, in the form of a row; `undefined` for the first page. */
  readonly after: readonly string[] | undefined
  readonly limit: number
}
