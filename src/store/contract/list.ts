import type {
  AccountId,
  BlockId,
  CommitmentId,
  SlotIndex,
  TransactionId,
} from '../../protocol/primitives.ts'
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
} from '../rows.ts'

/** Reads of lists, page by page, and of many rows by their keys. */

/**
 * A position in the order of a list: a value for each column of the order. There need not be a row at it. Bytes are written as hex digits.
 * Shorter bytes come before all longer bytes that begin with them.
 */
export type Position = readonly (number | bigint | string)[]

/** The part of a list between two positions, both exclusive. */
export interface Between {
  readonly above: Position
  readonly below: Position
}

/** Number of rows to read from each part, and the end at which the read starts. */
export interface PageOrder {
  readonly order: 'ascending' | 'descending'
  readonly limit: number
}

/** Rows that are read at once. SQLite takes one or two milliseconds for them, and some twenty if they come from the disk. */
export const rowsPerTurn = 256

/** A range of committed slots, both ends inclusive. */
export interface MilestoneRange extends PageOrder {
  readonly from: SlotIndex
  readonly to: SlotIndex
}

/**
 * A filter of blocks by transaction, by issuer, or by states. Give at most one of these three, because no index covers two of them.
 * `kinds` filters the blocks of an issuer or of states further.
 */
export interface BlockConditions {
  readonly transactionId?: TransactionId | undefined
  readonly issuerId?: AccountId | undefined
  readonly states?: readonly BlockState[] | undefined
  readonly kinds?: readonly BlockKind[] | undefined
}

/** A filter of outputs: outputs of some type codes in the order of booking, or spent outputs in the order of spending. */
export type OutputConditions = { readonly kinds?: readonly number[] | undefined } | 'SPENT'

/** The content of a log row, by which the row can be found. */
export interface EntryOfSlot
  extends Pick<LedgerUpdate, 'address' | 'class' | 'outputId' | 'isSpent'> {
  readonly slot: SlotIndex
}

/** A row of the log that names a transaction: the one that created the output, or the one that spent it. */
export type TransactionEntry = Pick<LedgerUpdate, 'seq' | 'milestoneIndex' | 'outputId' | 'isSpent'>

/**
 * Number of accepted blocks and transactions of a committed slot, and of transactions that failed for good. `failed` is `undefined` for
 * slots from before failures were counted.
 */
export interface SlotCounts {
  readonly slot: SlotIndex
  readonly blocks: number
  readonly transactions: number
  readonly failed: number | undefined
}

/**
 * Reads of lists. Each reads pages of several parts at once and resolves to one page per part, in ascending or descending order. The
 * number of statements does not depend on the number of parts. Every page is one index scan.
 */
export interface ListReader {
  /** Blocks by slot, issuing time and position in the inbox. */
  blockPages(
    parts: readonly (Between & { readonly where: BlockConditions })[],
    page: PageOrder,
  ): Promise<BlockRow[][]>
  /** The blocks that reference a block, by position in the inbox. */
  childPages(
    parts: readonly (Between & { readonly parent: BlockId })[],
    page: PageOrder,
  ): Promise<BlockRow[][]>
  /** Transactions by slot and id. */
  transactionPages(
    parts: readonly (Between & { readonly state: TransactionState | undefined })[],
    page: PageOrder,
  ): Promise<TransactionRow[][]>
  /** The last entry of each transaction in the log of an address and class, by position. Skips up to 256 entries per transaction. */
  transactionEntryPages(
    parts: readonly (Between & Pick<LedgerUpdate, 'address' | 'class'>)[],
    page: PageOrder,
  ): Promise<TransactionEntry[][]>
  /** Outputs by booked slot and id, or by spent slot and id. */
  outputPages(
    parts: readonly (Between & { readonly where: OutputConditions })[],
    page: PageOrder,
  ): Promise<OutputRow[][]>
  /** Addresses that own base tokens at the newest milestone, by total and by address bytes. */
  addressPages(parts: readonly Between[], page: PageOrder): Promise<AddressTotal[][]>
  /** The blocks that exist, in no particular order. */
  blocks(blockIds: readonly BlockId[]): Promise<BlockRow[]>
  /** The transactions that exist, in no particular order. */
  transactions(transactionIds: readonly TransactionId[]): Promise<TransactionRow[]>
  /** The committed slots among `slots`, in no particular order. */
  milestonesAt(slots: readonly SlotIndex[]): Promise<Milestone[]>
  /** The slots of the commitments that exist, in no particular order. */
  milestonesByCommitments(ids: readonly CommitmentId[]): Promise<Milestone[]>
  /** Counts of the blocks and transactions of committed slots, by one index scan per slot. */
  slotCounts(slots: readonly SlotIndex[]): Promise<SlotCounts[]>
  /**
   * The positions of some log rows, in the requested order; `undefined` for rows that do not exist or are pruned. Each costs a scan of
   * the rows of the address in that milestone.
   */
  entrySeqs(parts: readonly EntryOfSlot[]): Promise<(number | undefined)[]>
  /** The log rows at some positions that are not pruned, in no particular order. */
  updatesAt(seqs: readonly number[]): Promise<LedgerUpdate[]>
}
