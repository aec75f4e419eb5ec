import type { AccountEntry } from '../ledger/accounts.ts'
import type { Hex } from '../lib/hex.ts'
import type { Result } from '../lib/result.ts'
import type {
  AccountId,
  BlockId,
  CommitmentId,
  EpochIndex,
  OutputId,
  SlotIndex,
  TransactionId,
} from '../protocol/primitives.ts'
import type { Allotment } from '../protocol/transaction.ts'
import type { BlocksPruned, FillRequest, FillResult } from './contract/fill.ts'
import type { HistoryChecks, HistoryState } from './contract/history.ts'
import type { LeaseHeld, LeaseLost, LeaseState, LeaseTerm } from './contract/lease.ts'
import type { LedgerSnapshotReads, SnapshotEnd, SnapshotPart } from './contract/ledger-snapshot.ts'
import type { Between, ListReader, MilestoneRange, PageOrder } from './contract/list.ts'
import type { PruneWrites } from './contract/prune.ts'
import type { ReplicasStatus } from './contract/replica.ts'
import type { TrieBuild, TrieChanges, TrieReads } from './contract/trie.ts'
import type { ViewReader } from './contract/view.ts'
import type { WaitingChanges, WaitingReads } from './contract/waiting.ts'
import type { DatabaseSpace, StoreLoad } from './load.ts'
import type {
  AccountVersion,
  AddressPage,
  AddressPageQuery,
  AddressTip,
  BlockCounts,
  BlockRow,
  ChainRecordVersion,
  EpochRow,
  IssuedBlockRow,
  LedgerUpdate,
  LogEntries,
  LogRange,
  LogTip,
  Milestone,
  NetworkRow,
  NewChainRecord,
  OutputPage,
  OutputRow,
  OwnedQuery,
  OwnedUpdate,
  PrunedTip,
  SlotBlocksPage,
  SlotConsumer,
  SpentOutput,
  TransactionRow,
  UpdateClass,
} from './rows.ts'

/** The interface of the database, of either kind, to the rest of the program. */

/** An open database: a reading side for any number of concurrent callers, and a writing side that runs one call at a time. */
export interface Store extends HistoryState {
  readonly read: StoreReader
  /** Reads from the server that is written, for reads that a write depends on. `read` may use a replica that lags behind. */
  readonly primary: StoreReader
  readonly write: StoreWriter
  /** Begins a snapshot: later commits do not affect its reads. Waits while too many snapshots are open. */
  snapshot(): Promise<StoreSnapshot>
  /** Measures the database and its disk, without waiting for writes. */
  space(): Promise<DatabaseSpace>
  /** Whether processes on several machines may use the database and are notified of each other's writes. */
  readonly isShared: boolean
  /** Returns a number that differs after each change of the database; `undefined` if only a read can detect changes. */
  changes(): number | undefined
  /**
   * Calls `listener` with notifications of all processes on the database. SQLite has no notifications. Notifications may be lost while the
   * database is unreachable, so a listener also polls.
   */
  listen(listener: (notification: StoreNotification) => void): { close(): Promise<void> }
  load(): StoreLoad
  /** Status of the read replicas; `undefined` if there are none. */
  replicas(): ReplicasStatus | undefined
  /** Waits for the current write, then closes both sides. */
  close(): Promise<void>
}

/**
 * Reads of one snapshot, except the network, the lease and the versions of accounts. The reads fail once the snapshot has lasted for
 * `maxSnapshotMs`, because the files of the database grow while it is open.
 */
export interface StoreSnapshot {
  readonly read: StoreReader
  /**
   * Whether everything has to be read again in another snapshot: the replica was lost, or it lacked a position that the reads named and
   * that can be read now.
   */
  isStale(): Promise<boolean>
  /** Ends the snapshot. Call it once, after the last read. */
  end(): void
}

/** A position of the log, a slot, or a position among the changes of chain records. */
export interface NamedPosition {
  readonly seq?: number
  readonly slot?: SlotIndex
  readonly change?: number
}

/** The log has grown to `seq`, blocks wait in the inbox, or the lease was released. */
export type StoreNotification =
  | { readonly topic: 'LOG_GREW'; readonly seq: number }
  | { readonly topic: 'BLOCKS_ACCEPTED' }
  | { readonly topic: 'LEASE_FREED' }

/** Reads of the committed state of the database. No read waits for the writer. */
export interface StoreReader extends ViewReader, ListReader, TrieReads, LedgerSnapshotReads {
  /**
   * Waits until this reader has a position that a client names, if the primary has that position. On the primary it does nothing. In
   * a snapshot it marks the snapshot as stale.
   */
  reach(position: NamedPosition): Promise<void>
  /** Clears the caches in memory. Call it when the database was replaced. */
  forget(): void
  /**
   * Returns a text that differs after each change of the database, at a lower cost than other reads. Later reads see this version or a
   * newer one.
   */
  version(): Promise<string>
  /** The network of this database; `undefined` before the ledger is initialized. */
  network(): Promise<NetworkRow | undefined>
  /** Whether the rows are those of an unfinished import, and no ledger yet. */
  isImporting(): Promise<boolean>
  /** The end of the log. Throws before the ledger is initialized. */
  logTip(): Promise<LogTip>
  /**
   * The branches of some positions, all of one state, by the index of milestones. The branch is zeros for position 0 and for positions
   * beyond the end of the log. Positions of pruned rows have branches too.
   */
  branchesAt(seqs: readonly number[]): Promise<readonly Hex[]>
  /** Rows of the log in the requested order, at most `limit`; one index scan per class. Yields to the event loop. */
  updates(range: LogRange): Promise<LedgerUpdate[]>
  /** A page of one address and class, with its count, its cursors and the tip, all of one state. Yields to the event loop. */
  addressPage(query: AddressPageQuery): Promise<AddressPage>
  /**
   * The owned outputs of an address from a position on, inclusive: one index scan. `undefined` if some 200 rows or more precede the
   * position in its own milestone, because the scan does not skip that many.
   */
  owned(query: OwnedQuery): Promise<readonly OwnedUpdate[] | undefined>
  /** The last ordinal and history hash of an address and class; ordinal 0 if there is no row. */
  addressTip(address: Hex, updateClass: UpdateClass): Promise<AddressTip>
  /** The newest pruned row of an address and class; `undefined` if no row of them was pruned. */
  prunedTip(address: Hex, updateClass: UpdateClass): Promise<PrunedTip | undefined>
  milestone(slot: SlotIndex): Promise<Milestone | undefined>
  milestoneByCommitment(commitmentId: CommitmentId): Promise<Milestone | undefined>
  /** The newest committed slot. Throws before the ledger is initialized. */
  latestMilestone(): Promise<Milestone>
  /** The committed slots after `slot`, in order. */
  milestonesAfter(slot: SlotIndex, limit: number): Promise<Milestone[]>
  block(blockId: BlockId): Promise<BlockRow | undefined>
  transaction(transactionId: TransactionId): Promise<TransactionRow | undefined>
  output(outputId: OutputId): Promise<OutputRow | undefined>
  /** The outputs that exist, spent or not, in no particular order. */
  outputs(outputIds: readonly OutputId[]): Promise<OutputRow[]>
  /**
   * The unspent outputs that change by time alone in one of the slots `after` (exclusive) to `upTo` (inclusive). Slots up to the newest
   * committed slot plus the minimum committable age are not covered.
   */
  dueOutputs(after: SlotIndex, upTo: SlotIndex): Promise<OutputRow[]>
  /** A page of the outputs that were booked in a slot, by id, after output `after` if given. */
  createdPage(slot: SlotIndex, after?: OutputId): Promise<OutputPage>
  /** A page of the outputs that were spent in a slot, by id, after output `after` if given. */
  spentPage(slot: SlotIndex, after?: OutputId): Promise<OutputPage>
  /** Number of blocks in the slots `from` to `to`, both inclusive, and how many of them are accepted. */
  countBlocks(from: SlotIndex, to: SlotIndex): Promise<BlockCounts>
  /** The entry of an account at the end of a slot, by default the newest slot; `undefined` if the account has none. */
  accountEntry(accountId: AccountId, slot?: SlotIndex): Promise<AccountEntry | undefined>
  /** The known epochs from `from` on, in order. */
  epochs(from: EpochIndex): Promise<EpochRow[]>
  /**
   * A page of the outputs that were unspent at the newest commitment or booked since then, by id, after output `after` if given. An
   * empty page is the end.
   */
  unspentPage(after: OutputId | undefined): Promise<Pick<OutputRow, 'outputId' | 'bookedSlot'>[]>
  /** The blocks of a kind that were booked in the slots `from` to `to`, both inclusive, with their issuers and issuing times. */
  blocksOfKind(kind: BlockRow['kind'], from: SlotIndex, to: SlotIndex): Promise<IssuedBlockRow[]>
  /** The issuing times of the known blocks among `blockIds`. */
  issuingTimes(blockIds: readonly BlockId[]): Promise<ReadonlyMap<BlockId, bigint>>
  /** The newest version of a chain record. */
  chainRecord(chainId: string): Promise<ChainRecordVersion | undefined>
  /** Versions of one chain record, by version number. */
  chainRecordHistory(chainId: string, part: Between, page: PageOrder): Promise<ChainRecordVersion[]>
  /** Versions of all chain records in the order in which they were set, after the position `after`. */
  chainRecordChanges(page: {
    readonly after: number
    readonly limit: number
  }): Promise<ChainRecordVersion[]>
  /** The position of the newest version of all chain records; 0 if there is none. */
  latestChainRecordChange(): Promise<number>
  /** The newest version of each chain record, by chain id. */
  chainRecords(part: Between, page: PageOrder): Promise<ChainRecordVersion[]>
  /** Blocks that were not dropped, by issuing time, newest first. For equal times, the last to arrive comes first. */
  recentBlocks(limit: number): Promise<BlockRow[]>
  /** The newest slot up to `upTo` with blocks that were not dropped; `undefined` if there is none. */
  newestSlotWithBlocks(upTo: SlotIndex): Promise<SlotIndex | undefined>
  /** Blocks of every state after a position of the inbox, in inbox order. */
  blocksAfter(page: { readonly inbox: number; readonly limit: number }): Promise<BlockRow[]>
  /** The blocks that reference a block, by position in the inbox, without the first `skip`. */
  children(
    blockId: BlockId,
    page: { readonly skip: number; readonly limit: number },
  ): Promise<BlockId[]>
  /** Accepted blocks of a slot by their position in the inbox, from position `from` on, inclusive. */
  slotBlocks(slot: SlotIndex, page: SlotBlocksPage): Promise<BlockRow[]>
  /** Committed slots `from` to `to`, both inclusive, at most `limit`. */
  milestones(range: MilestoneRange): Promise<Milestone[]>
  /** The last used position of the inbox; 0 if there is none. */
  newestInbox(): Promise<number>
  /** The states of the known blocks among `blockIds`, in no particular order. */
  blockStates(blockIds: readonly BlockId[]): Promise<Pick<BlockRow, 'blockId' | 'state'>[]>
  /** The holder of the lease, and how long the lease lasts without a renewal; `undefined` if it was never taken. */
  lease(): Promise<LeaseState | undefined>
}

/** Writes. Each call is one transaction. Calls run one after the other, in the order in which they were made. */
export interface StoreWriter extends WaitingReads, HistoryChecks, PruneWrites {
  /** Takes the lease if it is free or has expired by the database's clock, and increments the term. */
  takeLease(lease: {
    readonly holder: string
    readonly ttlMs: number
  }): Promise<Result<LeaseTerm, LeaseHeld>>
  /** Extends the lease to `ttlMs` milliseconds from now. */
  renewLease(term: number, ttlMs: number): Promise<Result<LeaseTerm, LeaseLost>>
  /** Releases the lease at a clean shutdown, or for a killed holder, so that no process has to wait. Does nothing if the lease is lost. */
  releaseLease(term: number): Promise<void>
  /** Writes the network, the genesis ledger and its commitment, once in the lifetime of a database. */
  initialize(
    term: number,
    genesis: Genesis,
  ): Promise<Result<LogTip, LeaseLost | AlreadyInitialized>>
  /** Adds a part of a snapshot to a database that has no network yet. */
  addToSnapshot(term: number, part: SnapshotPart): Promise<Result<LeaseTerm, LeaseLost>>
  /** Begins the log at the snapshot after all its parts were added. */
  finishSnapshot(term: number, end: SnapshotEnd): Promise<Result<LogTip, LeaseLost>>
  /** Removes the parts of an unfinished snapshot. */
  dropSnapshot(term: number): Promise<Result<LeaseTerm, LeaseLost>>
  /**
   * Adds blocks to the inbox, durably. Resolves to one outcome per block, in the given order. All earlier writes are then durable too, even
   * if `blocks` is empty. Needs no lease, but throws if no process has ever taken the lease.
   */
  acceptBlocks(blocks: readonly IncomingBlock[]): Promise<Acceptance[]>
  /** Adds blocks of the writer itself to the inbox. Fails once the term has ended. */
  acceptOwnBlocks(
    term: number,
    blocks: readonly IncomingBlock[],
  ): Promise<Result<Acceptance[], LeaseLost>>
  /**
   * Closes the slots up to and including `upTo`, so that no block of them is accepted. Never reopens a slot. Their blocks are before the
   * position `nextInbox` of the inbox.
   */
  closeSlots(
    term: number,
    upTo: SlotIndex,
  ): Promise<Result<{ readonly nextInbox: number }, LeaseLost>>
  /** Writes the verdicts on blocks, and their effects. Throws if an output is spent twice or does not exist. */
  book(term: number, booking: Booking): Promise<Result<LeaseTerm, LeaseLost>>
  /**
   * Appends at most 1,000 consecutive slots to the log, finalizes their blocks and transactions, and resolves to the new tip. Throws if a
   * slot is skipped, still open, or has a block that is not booked. `tries` has the changes of the tries, if this program maintains
   * the ledger.
   */
  commitSlots(
    term: number,
    commits: readonly SlotCommit[],
    tries?: TrieChanges,
  ): Promise<Result<LogTip, LeaseLost>>
  /** Adds pages to tries that are being built. If `build.isNew` is set, removes all pages first. */
  buildTries(term: number, build: TrieBuild): Promise<Result<LeaseTerm, LeaseLost>>
  /**
   * Books and commits at most 1,000 consecutive slots that a node reported, and resolves to the new tip. Throws if they do not follow from
   * the current ledger.
   */
  followSlots(term: number, slots: readonly FollowedSlot[]): Promise<Result<LogTip, LeaseLost>>
  /**
   * Stores final blocks and transactions that the upstream node reported. Known ones are not changed. Needs no lease, but throws if no
   * process has ever taken the lease.
   */
  storeFinalBlocks(blocks: FinalBlocks): Promise<void>
  /** The outputs that exist after all earlier writes, in no particular order. */
  outputsForBooking(outputIds: readonly OutputId[]): Promise<OutputRow[]>
  /** The transactions that are known after all earlier writes, in no particular order. */
  transactionsForBooking(transactionIds: readonly TransactionId[]): Promise<TransactionRow[]>
  /**
   * Passes the rows that were booked into the slots `from` to `to`, both inclusive, to `take` one by one, after all earlier writes. A slot
   * may have any number of rows, so other writes run meanwhile. The slots must be closed and booked.
   */
  readSlots(from: SlotIndex, to: SlotIndex, take: SlotConsumer): Promise<void>
  /** Counts the activity of the next uncounted slots, from the newest down. */
  fillActivity(term: number, request: FillRequest): Promise<Result<FillResult, LeaseLost>>
  /** Deletes the activity of all spans that begin in the retained log, so that they are counted again. */
  forgetActivity(term: number): Promise<Result<LeaseTerm, LeaseLost | BlocksPruned>>
  /** Appends the next version of a chain record, which replaces the whole record. Needs no lease. */
  setChainRecord(record: NewChainRecord): Promise<ChainRecordVersion>
  /** Appends the next version of a chain record if `version` is the newest version; 0 means that there is no record. Needs no lease. */
  replaceChainRecord(
    record: NewChainRecord,
    version: number,
  ): Promise<Result<ChainRecordVersion, ChainRecordDiffers>>
}

/** The expected version of the record is not the newest one, and nothing was written. */
export interface ChainRecordDiffers {
  readonly code: 'CHAIN_RECORD_DIFFERS'
  /** Newest version of the record; 0 if there is no record. */
  readonly version: number
}

/** The database already belongs to a network. */
export interface AlreadyInitialized {
  readonly code: 'ALREADY_FOUNDED'
}

/** The first state of a ledger. Its commitment is the first milestone, and its outputs are the first rows of the log. */
export interface Genesis {
  readonly network: NetworkRow
  readonly outputs: readonly CreatedOutput[]
  readonly accounts: readonly AccountVersion[]
  /** The first epoch with its committee; `undefined` in upstream mode, which stores no epochs. */
  readonly epoch: EpochRow | undefined
  readonly commit: SlotCommit
}

/** A submitted block that has no position in the inbox yet. */
export interface IncomingBlock extends Omit<BlockRow, 'inbox' | 'state'> {
  /** Blocks that it references, by any kind of reference. */
  readonly parents?: readonly BlockId[]
}

/** Finalized blocks, and transactions with their final state. */
export interface FinalBlocks {
  readonly blocks: readonly IncomingBlock[]
  readonly transactions: readonly (Omit<TransactionRow, 'state'> & {
    readonly state: 'FINALIZED' | 'FAILED'
  })[]
}

/** The outcome for a submitted block: new and stored, already stored, or not stored because its slot is closed. */
export type Acceptance = 'ACCEPTED' | 'KNOWN' | 'SLOT_CLOSED'

/** Verdicts on blocks of the inbox, and their effects. */
export interface Booking {
  readonly blocks: readonly BookedBlock[]
  readonly transactions: readonly BookedTransaction[]
  readonly created: readonly CreatedOutput[]
  readonly spent: readonly SpentOutput[]
  readonly waiting?: WaitingChanges
}

export interface BookedBlock {
  readonly blockId: BlockId
  readonly state: 'ACCEPTED' | 'DROPPED'
}

/** The verdict on a pending transaction: booked in `slot`, or failed. If only its carriers failed, the transaction stays pending. */
export interface BookedTransaction {
  readonly transactionId: TransactionId
  /** The block with which it is judged. */
  readonly blockId: BlockId
  readonly slot: SlotIndex
  readonly state: 'ACCEPTED' | 'FAILED'
  readonly failureReason: number | undefined
  /** Allotments of an accepted transaction. */
  readonly allotments: readonly Allotment[]
  /** Number of its carriers that failed with this verdict; 1 by default. */
  readonly judgedCarriers?: number
}

export type CreatedOutput = Omit<OutputRow, 'spentSlot' | 'spentBy'>

/** A slot that a node committed, with the outputs that it created and spent. An output may be in both lists. */
export interface FollowedSlot {
  readonly commit: SlotCommit
  readonly created: readonly CreatedOutput[]
  readonly spent: readonly SpentOutput[]
}

/** A slot to be committed. Its `entries` are in the order of the log. */
export interface SlotCommit {
  readonly slot: SlotIndex
  readonly commitmentId: CommitmentId
  /** The 89 bytes of the slot commitment. */
  readonly bytes: Uint8Array
  readonly entries: LogEntries
  /** The accounts that the slot changed. */
  readonly accounts: readonly AccountVersion[]
  /** Epochs that begin or end with the slot. */
  readonly epochs: readonly EpochRow[]
}
