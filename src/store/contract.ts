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
import type { FillRequest, FillResult } from './fill-contract.ts'
import type { HistoryChecks, HistoryState } from './history-contract.ts'
import type { LeaseHeld, LeaseLost, LeaseState, LeaseTerm } from './lease-contract.ts'
import type { LedgerSnapshotReads, SnapshotEnd, SnapshotPart } from './ledger-snapshot-contract.ts'
import type { Between, ListReader, MilestoneRange, PageOrder } from './list-contract.ts'
import type { DatabaseSpace, StoreLoad } from './load.ts'
import type { PruneWrites } from './prune-contract.ts'
import type { ReplicasStatus } from './replica-contract.ts'
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
  LogEntry,
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
  SlotTaker,
  SpentOutput,
  TransactionRow,
  UpdateClass,
} from './rows.ts'
import type { TrieBuild, TrieChanges, TrieReads } from './trie-contract.ts'
import type { ViewReader } from './view-contract.ts'
import type { WaitingChanges, WaitingReads } from './waiting-contract.ts'

/** What the rest of the program uses of the database, of either kind. */

/** An open database: a reading side that any number may use at once, and a writing side that takes one call at a time. */
export interface Store extends HistoryState {
  readonly read: StoreReader
  /** Reads at the server that is written, for what a write depends on; `read` may be at a replica that is behind it. */
  readonly primary: StoreReader
  readonly write: StoreWriter
  /** Begins reads that are all as of this moment, whatever is committed meanwhile. Waits while too many are under way. */
  snapshot(): Promise<StoreSnapshot>
  /** Measures the database and the disk under it; takes no turn among writes. */
  space(): Promise<DatabaseSpace>
  /** Whether processes on several machines may use the database, and are notified of what others write. */
  readonly isShared: boolean
  /**
   * Notifies of what any process on the database has done; on SQLite there is no notification. Some
   * may be lost while the database is unreachable: a listener also polls now and then.
   */
  listen(hear: (news: StoreNotification) => void): { close(): Promise<void> }
  /** How busy it is. */
  load(): StoreLoad
  /** How its read replicas do; `undefined` where it has none. */
  replicas(): ReplicasStatus | undefined
  /** Waits for the writing call under way, then closes both sides. */
  close(): Promise<void>
}

/**
 * Reads as of one moment, but for the network, the lease and versions of accounts. They fail once it has lasted for
 * `mostSnapshotMs`, for the files of the database grow as long as it lasts.
 */
export interface StoreSnapshot {
  readonly read: StoreReader
  /**
   * Whether everything is to be read again, in another snapshot: the replica was lost meanwhile, or lacked what the reads named
   * and can be read now.
   */
  isStale(): Promise<boolean>
  /** Called once, when all has been read. */
  end(): void
}

/** A position of the log, a slot, or a position among the settings of chain records. */
export interface NamedPosition {
  readonly seq?: number
  readonly slot?: SlotIndex
  readonly change?: number
}

/** The log reaches up to `seq` now; blocks wait in the inbox; the lease was given back. */
export type StoreNotification =
  | { readonly topic: 'LOG_GREW'; readonly seq: number }
  | { readonly topic: 'BLOCKS_ACCEPTED' }
  | { readonly topic: 'LEASE_FREED' }

/** Reads of what has been committed to the database. Nothing here waits for the writer. */
export interface StoreReader extends ViewReader, ListReader, TrieReads, LedgerSnapshotReads {
  /**
   * Waits until a position that a client names can be read here, where the server that is written has it; at that server it does
   * nothing. In a snapshot it notes that all is to be read again.
   */
  reach(position: NamedPosition): Promise<void>
  /** Forgets what is kept in memory, for the database under it is another one now. */
  forget(): void
  /**
   * A number that is another one after each change of the database, for far less than a read costs; `undefined` where it takes a
   * read to know.
   */
  changes(): Promise<number | undefined>
  /** A text that is another one after each change of the database: what was read after it is of it or of a later one. */
  version(): Promise<string>
  /** The network this database belongs to; `undefined` before the ledger is initialized. */
  network(): Promise<NetworkRow | undefined>
  /** How far the log reaches. Throws before the ledger is initialized. */
  logTip(): Promise<LogTip>
  /**
   * The branches of some positions, all as of one moment, by the index of milestones; zeros for the position 0 and for
   * those that the log does not reach. Positions whose rows are no longer kept have theirs too.
   */
  branchesAt(seqs: readonly number[]): Promise<readonly Hex[]>
  /** Rows of the log in the asked order, at most `limit`; one index scan per class. Lets the event loop turn. */
  updates(range: LogRange): Promise<LedgerUpdate[]>
  /** A page of one address and class, with its count, its cursors and the tip, as of one moment. Lets the event loop turn. */
  addressPage(question: AddressPageQuery): Promise<AddressPage>
  /**
   * What an address owned, from a place on, itself included: one index scan. `undefined` where some 200 rows and more lie
   * before the place in its own milestone: so many are not passed over.
   */
  owned(question: OwnedQuery): Promise<readonly OwnedUpdate[] | undefined>
  /** The last ordinal and history hash of an address and class; ordinal 0 where there is no row. */
  addressTip(address: Hex, updateClass: UpdateClass): Promise<AddressTip>
  /** The newest removed row of an address and class; `undefined` if no row of them was removed. */
  prunedTip(address: Hex, updateClass: UpdateClass): Promise<PrunedTip | undefined>
  milestone(slot: SlotIndex): Promise<Milestone | undefined>
  milestoneByCommitment(commitmentId: CommitmentId): Promise<Milestone | undefined>
  /** The newest committed slot. Throws before the ledger is initialized. */
  latestMilestone(): Promise<Milestone>
  /** The committed slots after one, in order. */
  milestonesAfter(slot: SlotIndex, limit: number): Promise<Milestone[]>
  block(blockId: BlockId): Promise<BlockRow | undefined>
  transaction(transactionId: TransactionId): Promise<TransactionRow | undefined>
  output(outputId: OutputId): Promise<OutputRow | undefined>
  /** The outputs that exist, in no order; spent ones too. */
  outputs(outputIds: readonly OutputId[]): Promise<OutputRow[]>
  /**
   * The unspent outputs for which time alone changes something in one of the slots `after` (excluded) to `upTo`
   * (included), as far as that lies beyond the newest committed slot and its least committable age.
   */
  dueOutputs(after: SlotIndex, upTo: SlotIndex): Promise<OutputRow[]>
  /** A page of the outputs that were booked in a slot, by id, after one if it is given. */
  createdPage(slot: SlotIndex, after?: OutputId): Promise<OutputPage>
  /** The same of those that were spent in it. */
  spentPage(slot: SlotIndex, after?: OutputId): Promise<OutputPage>
  /** How many blocks the slots `from` to `to` have, both included, and how many of these are accepted. */
  countBlocks(from: SlotIndex, to: SlotIndex): Promise<BlockCounts>
  /** The entry of an account as of the end of a slot, by default the newest; `undefined` without one. */
  accountEntry(accountId: AccountId, slot?: SlotIndex): Promise<AccountEntry | undefined>
  /** The epochs that are known, in order, from one on. */
  epochs(from: EpochIndex): Promise<EpochRow[]>
  /**
   * A page of the outputs that are unspent as of the newest commitment or booked since, by id, after one if it is given; an
   * empty page is the end.
   */
  unspentPage(after: OutputId | undefined): Promise<Pick<OutputRow, 'outputId' | 'bookedSlot'>[]>
  /** The blocks of a kind booked in the slots `from` to `to`, both included: who issued them, and when. */
  blocksOfKind(kind: BlockRow['kind'], from: SlotIndex, to: SlotIndex): Promise<IssuedBlockRow[]>
  /** The issuing times of those of the blocks that are known. */
  issuingTimes(blockIds: readonly BlockId[]): Promise<ReadonlyMap<BlockId, bigint>>
  /** The newest version. */
  chainRecord(chainId: string): Promise<ChainRecordVersion | undefined>
  /** Versions of one chain, by their numbers. */
  chainRecordHistory(chainId: string, part: Between, page: PageOrder): Promise<ChainRecordVersion[]>
  /** Versions of all chains in the order they were set, after the position `after`. */
  chainRecordChanges(page: {
    readonly after: number
    readonly limit: number
  }): Promise<ChainRecordVersion[]>
  /** The position of the newest version of all chains; 0 where there is none. */
  latestChainRecordChange(): Promise<number>
  /** The newest version of each chain, by chain id. */
  chainRecords(part: Between, page: PageOrder): Promise<ChainRecordVersion[]>
  /** Blocks that were not dropped, newest issuing time first, and of one time the last to arrive first. */
  recentBlocks(limit: number): Promise<BlockRow[]>
  /** The newest slot up to one that has blocks which were not dropped; `undefined` where there are none. */
  newestSlotWithBlocks(upTo: SlotIndex): Promise<SlotIndex | undefined>
  /** Blocks after a position in the inbox, in inbox order, in every state. */
  blocksAfter(page: { readonly inbox: number; readonly limit: number }): Promise<BlockRow[]>
  /** The blocks that refer to a block, by id, from the place `skip` on. */
  children(
    blockId: BlockId,
    page: { readonly skip: number; readonly limit: number },
  ): Promise<BlockId[]>
  /** Accepted blocks of a slot by their place in the inbox, from one place on, itself included. */
  slotBlocks(slot: SlotIndex, page: SlotBlocksPage): Promise<BlockRow[]>
  /** Committed slots `from` to `to`, both included, at most `limit`. */
  milestones(range: MilestoneRange): Promise<Milestone[]>
  /** The last place of the inbox that is taken; 0 where none is. */
  newestInbox(): Promise<number>
  /** The states of those of some blocks that are known, in no order. */
  blockStates(blockIds: readonly BlockId[]): Promise<Pick<BlockRow, 'blockId' | 'state'>[]>
  /** The holder of the lease, and how long the lease lasts without a renewal; `undefined` if it was never taken. */
  lease(): Promise<LeaseState | undefined>
}

/** Writes. Each call is one transaction: all of it happens, or none. Calls run one after the other, in the order made. */
export interface StoreWriter extends WaitingReads, HistoryChecks, PruneWrites {
  /** Takes the lease when it is free or has run out by the database's clock, and raises the term. */
  takeLease(lease: {
    readonly holder: string
    readonly ttlMs: number
  }): Promise<Result<LeaseTerm, LeaseHeld>>
  /** Prolongs the lease to `ttlMs` from now. */
  renewLease(term: number, ttlMs: number): Promise<Result<LeaseTerm, LeaseLost>>
  /** Releases the lease at a clean end, or for a holder that was killed, so that no process has to wait. Does nothing if the lease is lost. */
  releaseLease(term: number): Promise<void>
  /** Writes the network, the genesis ledger and its commitment, once in a database's life. */
  initialize(
    term: number,
    genesis: Genesis,
  ): Promise<Result<LogTip, LeaseLost | AlreadyInitialized>>
  /** Adds a part of a snapshot to a database that has no network yet. */
  addToSnapshot(term: number, part: SnapshotPart): Promise<Result<LeaseTerm, LeaseLost>>
  /** Begins the log at the snapshot whose parts are all here. */
  finishSnapshot(term: number, end: SnapshotEnd): Promise<Result<LogTip, LeaseLost>>
  /** Removes the parts of a snapshot that is not finished. */
  dropSnapshot(term: number): Promise<Result<LeaseTerm, LeaseLost>>
  /**
   * Puts blocks into the inbox, durably; one answer per block, in the order given. Everything that was written before is as
   * durable then, also where no block is given. Needs no lease, but throws where no process has ever taken one.
   */
  acceptBlocks(blocks: readonly IncomingBlock[]): Promise<Acceptance[]>
  /** The same for blocks of the writer itself, which are refused once the term is over. */
  acceptOwnBlocks(
    term: number,
    blocks: readonly IncomingBlock[],
  ): Promise<Result<Acceptance[], LeaseLost>>
  /** From now on no block of a slot up to and including `upTo` is accepted. Never opens a closed slot again. */
  closeSlots(term: number, upTo: SlotIndex): Promise<Result<LeaseTerm, LeaseLost>>
  /** Writes the verdicts over blocks and their effects. Throws when an output is spent twice or does not exist. */
  book(term: number, booking: Booking): Promise<Result<LeaseTerm, LeaseLost>>
  /**
   * Appends consecutive slots to the log and makes their blocks and transactions final; at most 1,000 slots a call.
   * Throws when a slot is skipped, still open, or has a block that is not booked. Gives the new tip. `tries` is what the slots
   * change in the tries, where this program keeps the ledger.
   */
  commitSlots(
    term: number,
    commits: readonly SlotCommit[],
    tries?: TrieChanges,
  ): Promise<Result<LogTip, LeaseLost>>
  /** Adds pages of tries that are being built; those of another slot, and all where none is built, are removed first. */
  buildTries(term: number, build: TrieBuild): Promise<Result<LeaseTerm, LeaseLost>>
  /**
   * Books and commits consecutive slots that a node reported; at most 1,000 a call. Throws where they do not fit what is there.
   * Gives the new tip.
   */
  followSlots(term: number, slots: readonly FollowedSlot[]): Promise<Result<LogTip, LeaseLost>>
  /**
   * Keeps blocks and transactions that the upstream node reported and that cannot change any more; those that are known are left
   * as they are. Needs no lease, but throws where no process has ever taken one.
   */
  keepFinal(blocks: FinalBlocks): Promise<void>
  /** The outputs that exist, in no order, as of all former writes. */
  outputsForBooking(outputIds: readonly OutputId[]): Promise<OutputRow[]>
  /** The transactions that are known, in no order, as of all former writes. */
  transactionsForBooking(transactionIds: readonly TransactionId[]): Promise<TransactionRow[]>
  /**
   * Gives row by row what was booked into the slots `from` to `to`, both included, as of all former writes: a slot may have any number
   * of rows.
   */
  readSlots(from: SlotIndex, to: SlotIndex, take: SlotTaker): Promise<void>
  /** Counts the next piece of the slots whose activity is not counted, from the newest down. */
  fillActivity(term: number, request: FillRequest): Promise<Result<FillResult, LeaseLost>>
  /** Forgets the activity of all spans that begin in the kept log, to be counted anew. */
  forgetActivity(term: number): Promise<Result<LeaseTerm, LeaseLost>>
  /** Appends the next version of a chain's record, whole. Needs no lease. */
  setChainRecord(record: NewChainRecord): Promise<ChainRecordVersion>
  /** The same, but only where the newest version is this one. */
  replaceChainRecord(
    record: NewChainRecord,
    version: number,
  ): Promise<Result<ChainRecordVersion, ChainRecordDiffers>>
}

/** The newest version of the record is another one, and nothing was written. */
export interface ChainRecordDiffers {
  readonly code: 'CHAIN_RECORD_DIFFERS'
  /** 0 where there is no record. */
  readonly version: number
}

/** The database belongs to a network already. */
export interface AlreadyInitialized {
  readonly code: 'ALREADY_FOUNDED'
}

/** The first state of a ledger. Its commitment is the first milestone and its outputs the first rows of the log. */
export interface Genesis {
  readonly network: NetworkRow
  readonly outputs: readonly CreatedOutput[]
  readonly accounts: readonly AccountVersion[]
  /** The first epoch with its committee; `undefined` in upstream mode, whose epochs are not kept. */
  readonly epoch: EpochRow | undefined
  readonly commit: SlotCommit
}

/** A block as it came in, before it has a place in the inbox. */
export interface IncomingBlock extends Omit<BlockRow, 'inbox' | 'state'> {
  /** The blocks it refers to, by any kind of reference. */
  readonly parents?: readonly BlockId[]
}

/** Finalized blocks, and transactions with their last state. */
export interface FinalBlocks {
  readonly blocks: readonly IncomingBlock[]
  readonly transactions: readonly (Omit<TransactionRow, 'state'> & {
    readonly state: 'FINALIZED' | 'FAILED'
  })[]
}

/** What became of an incoming block: new and kept, here already, or too late for its slot and not kept. */
export type Acceptance = 'ACCEPTED' | 'KNOWN' | 'SLOT_CLOSED'

/** The verdicts over some blocks of the inbox, and what they change. */
export interface Booking {
  readonly blocks: readonly BookedBlock[]
  readonly transactions: readonly BookedTransaction[]
  readonly created: readonly CreatedOutput[]
  readonly spent: readonly SpentOutput[]
  readonly waiting?: WaitingChanges
}

/** The verdict over a block. */
export interface BookedBlock {
  readonly blockId: BlockId
  readonly state: 'ACCEPTED' | 'DROPPED'
}

/** The verdict over a pending transaction: booked in `slot`, or failed; pending again if it was for its carriers alone. */
export interface BookedTransaction {
  readonly transactionId: TransactionId
  /** The block by which it is judged. */
  readonly blockId: BlockId
  readonly slot: SlotIndex
  readonly state: 'ACCEPTED' | 'FAILED'
  readonly failureReason: number | undefined
  /** Of an accepted one. */
  readonly allotments: readonly Allotment[]
  /** How many of its carriers failed it with this verdict; 1 by default. */
  readonly judgedCarriers?: number
}

/** An output that begins to exist. */
export type CreatedOutput = Omit<OutputRow, 'spentSlot' | 'spentBy'>

/** A slot that a node committed, with what it did to outputs; one that was created and spent in it is in both lists. */
export interface FollowedSlot {
  readonly commit: SlotCommit
  readonly created: readonly CreatedOutput[]
  readonly spent: readonly SpentOutput[]
}

/** A slot to be committed; `entries` are in the order of the log. */
export interface SlotCommit {
  readonly slot: SlotIndex
  readonly commitmentId: CommitmentId
  /** The 89 bytes of the slot commitment. */
  readonly bytes: Uint8Array
  readonly entries: readonly LogEntry[]
  /** The accounts that the slot changed. */
  readonly accounts: readonly AccountVersion[]
  /** Epochs that begin or end with the slot: new ones, and known ones that are over. */
  readonly epochs: readonly EpochRow[]
}
