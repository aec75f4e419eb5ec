import type {
  AccountId,
  BlockId,
  CommitmentId,
  SlotIndex,
  TransactionId,
} from '../protocol/primitives.ts'
import type {
  AddressTotal,
  BlockKind,
  BlockRow,
  BlockState,
  LedgerUpdate,
  Milestone,
  OutputRow,
  TransactionRow,
  TransactionState,
} from './rows.ts'

/** Reads of whole lists, page by page, and of many rows by their keys. */

/**
 * A place in the order of a list: a value of each column of the order, whether or not a row lies there; bytes by their digits.
 * Bytes that are shorter than those of rows lie before all of them that begin with them.
 */
export type Position = readonly (number | bigint | string)[]

/** The part of a list between two positions, both excluded. */
export interface Between {
  readonly above: Position
  readonly below: Position
}

/** How much of each part is read, and from which end. */
export interface PageOrder {
  readonly order: 'ascending' | 'descending'
  readonly limit: number
}

/** So many rows are read at once: SQLite takes a millisecond or two for them, and some twenty where they come from the disk. */
export const rowsPerTurn = 256

/** Which committed slots, both ends included. */
export interface MilestoneRange extends PageOrder {
  readonly from: SlotIndex
  readonly to: SlotIndex
}

/**
 * Which blocks: of a transaction, of an issuer, or in some states; those of issuers and states by kind too. Only one of the three
 * may be given, for there is no index for two.
 */
export interface BlockConditions {
  readonly transactionId?: TransactionId | undefined
  readonly issuerId?: AccountId | undefined
  readonly states?: readonly BlockState[] | undefined
  readonly kinds?: readonly BlockKind[] | undefined
}

/** Which outputs: in the order of booking by their type codes, or those that are spent in the order of spending. */
export type OutputConditions = { readonly kinds?: readonly number[] | undefined } | 'SPENT'

/** A row of the log by what it says. */
export interface EntryOfSlot
  extends Pick<LedgerUpdate, 'address' | 'class' | 'outputId' | 'isSpent'> {
  readonly slot: SlotIndex
}

/** A row of the log that names a transaction: the one that created the output, or the one that spent it. */
export type TransactionEntry = Pick<LedgerUpdate, 'seq' | 'outputId' | 'isSpent'>

/** Accepted blocks and transactions of a committed slot, and the transactions that failed for good; those are not known of slots before they were counted. */
export interface SlotCounts {
  readonly slot: SlotIndex
  readonly blocks: number
  readonly transactions: number
  readonly failed: number | undefined
}

/**
 * Reads of lists. Each asks for pages of several parts at once and gives one page for each, in the order of the list or
 * against it; the number of statements does not depend on how many they are. Every page is a scan of an index.
 */
export interface ListReader {
  /** Blocks by slot, issuing time and place in the inbox. */
  blockPages(
    asked: readonly (Between & { readonly where: BlockConditions })[],
    page: PageOrder,
  ): Promise<BlockRow[][]>
  /** The blocks that refer to a block, by id; these are the positions. */
  childPages(
    asked: readonly (Between & { readonly parent: BlockId })[],
    page: PageOrder,
  ): Promise<BlockRow[][]>
  /** Transactions by slot and id. */
  transactionPages(
    asked: readonly (Between & { readonly state: TransactionState | undefined })[],
    page: PageOrder,
  ): Promise<TransactionRow[][]>
  /** The last entry of each transaction in the log of an address and class, by position. Of a transaction up to 256 are passed over. */
  transactionEntryPages(
    asked: readonly (Between & Pick<LedgerUpdate, 'address' | 'class'>)[],
    page: PageOrder,
  ): Promise<TransactionEntry[][]>
  /** Outputs by booked slot and id, or by spent slot and id. */
  outputPages(
    asked: readonly (Between & { readonly where: OutputConditions })[],
    page: PageOrder,
  ): Promise<OutputRow[][]>
  /** Addresses that own base tokens, by what they own in all and by their bytes; as of the newest milestone. */
  addressPages(asked: readonly Between[], page: PageOrder): Promise<AddressTotal[][]>
  /** The blocks that exist, in no order. */
  blocks(blockIds: readonly BlockId[]): Promise<BlockRow[]>
  /** The transactions that exist, in no order. */
  transactions(transactionIds: readonly TransactionId[]): Promise<TransactionRow[]>
  /** The committed ones of some slots, in no order. */
  milestonesAt(slots: readonly SlotIndex[]): Promise<Milestone[]>
  /** The slots of those of some commitments that exist, in no order. */
  milestonesByCommitments(ids: readonly CommitmentId[]): Promise<Milestone[]>
  /** What committed slots hold: counted, by one index scan each. */
  slotCounts(slots: readonly SlotIndex[]): Promise<SlotCounts[]>
  /**
   * The positions of some rows of the log, in the order asked; `undefined` for what is not there or no longer kept. Each costs a
   * scan of what the address has in that milestone.
   */
  entrySeqs(asked: readonly EntryOfSlot[]): Promise<(number | undefined)[]>
  /** Rows of the log at some positions that are still kept, in no order. */
  updatesAt(seqs: readonly number[]): Promise<LedgerUpdate[]>
}
