import type { AccountEntry } from '../ledger/accounts.ts'
import type { EpochRewards } from '../ledger/rewards.ts'
import type { LogEntry, UpdateClass } from '../ledger/updates.ts'
import type { Hex } from '../lib/hex.ts'
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

/** The rows of the database as plain values. Ids are text here and bytes in the database. */

export type { LogEntries, LogEntry, Role, UpdateClass } from '../ledger/updates.ts'
export { updateClasses } from '../ledger/updates.ts'

export interface LogPosition {
  /** Position from 0 (before the first row) to 2^53 - 1. */
  readonly seq: number
  /**
   * Binds the position to the history before it: the first 6 bytes of the commitment of the milestone with the row, or zeros at
   * position 0. If two copies of a database diverge, their branches differ after the fork.
   */
  readonly branch: Hex
}

/** One row of the log. Its `seq` counts from 1 without gaps, in commit order. */
export interface LedgerUpdate extends LogEntry, LogPosition {
  /** Position among the updates of this address and class, counted from 1 without gaps. */
  readonly ordinal: number
  /** Committed slot of the row. */
  readonly milestoneIndex: SlotIndex
  /** SHA-256 over the previous history hash of this address and class, and this row (design: one idea). */
  readonly historyHash: Hex
  /** Base tokens that the address owns at the end of the milestone; absent in class MENTIONED. */
  readonly balance?: bigint | undefined
}

/**
 * A range of the log. `after` and `before` are exclusive positions, and there need not be a row at either. For one address and both
 * classes it is read in two scans, which agree only up to a tip that was read earlier, so `before` must not be beyond that tip.
 */
export interface LogRange {
  /** The address of the rows; absent for the whole log. */
  readonly address?: Hex
  readonly classes: readonly UpdateClass[]
  readonly after: number
  readonly before: number
  readonly limit: number
  readonly order: 'ascending' | 'descending'
}

export interface AddressPageQuery
  extends Pick<LogRange, 'after' | 'before' | 'limit' | 'order'>,
    Pick<LedgerUpdate, 'address' | 'class'> {
  /** Positions at which cursors cut the list. */
  readonly cursors?: {
    /** Positions before the page in its order, both inclusive. */
    readonly behind: readonly [from: number, to: number]
    /** The two positions whose branches are read; 0 for none. */
    readonly seqs: readonly [number, number]
  }
}

/** A page of one address and class, all of one state. */
export interface AddressPage {
  readonly tip: LogTip
  /** Number of updates of the address and class, including pruned ones. */
  readonly count: number
  readonly rows: readonly LedgerUpdate[]
  /** Whether the address has rows at the positions `behind`. */
  readonly hasRowsBehind: boolean
  /** The branches of `seqs`; empty if the query has no cursors. */
  readonly branches: readonly Hex[]
}

export interface LogTip extends LogPosition {
  /** Random id that is created with the log. It is part of every cursor. */
  readonly logId: Hex
  /** The newest committed slot. */
  readonly slot: SlotIndex
  readonly commitmentId: CommitmentId
  /** Rows up to and including this position are pruned; 0 if none are. */
  readonly prunedSeq: number
  readonly prunedBranch: Hex
}

/** The end of the updates of one address and class: their number, and the newest history hash. */
export interface AddressTip {
  readonly ordinal: number
  readonly historyHash: Hex
}

/** The newest pruned update of an address and class. */
export type PrunedTip = Pick<
  LedgerUpdate,
  'address' | 'class' | 'ordinal' | 'historyHash' | 'milestoneIndex' | 'balance'
>

/** A committed slot. Its rows are `firstSeq` to `lastSeq`, and an empty slot has `firstSeq = lastSeq + 1`. */
export interface Milestone {
  readonly slot: SlotIndex
  readonly commitmentId: CommitmentId
  /** The 89 bytes of the slot commitment. */
  readonly bytes: Uint8Array
  readonly firstSeq: number
  readonly lastSeq: number
}

/** The states of a block. Accepted means booked. The commit of its slot makes the block final. */
export const blockStates = ['PENDING', 'ACCEPTED', 'CONFIRMED', 'FINALIZED', 'DROPPED'] as const
export type BlockState = (typeof blockStates)[number]

/**
 * The kinds of blocks, in the order of their numbers in the database: validation blocks, and basic blocks by their payload. A basic block
 * without a payload is `basic`.
 */
export const blockKinds = ['basic', 'validation', 'candidacy', 'tagged', 'transaction'] as const
export type BlockKind = (typeof blockKinds)[number]

/** A block as it was received. `inbox` is its position in the order of arrival: unique and increasing, possibly with gaps. */
export interface BlockRow {
  readonly blockId: BlockId
  readonly inbox: number
  readonly slot: SlotIndex
  readonly issuerId: AccountId
  /** Unix time in nanoseconds. */
  readonly issuingTime: bigint
  readonly bytes: Uint8Array
  readonly transactionId: TransactionId | undefined
  readonly state: BlockState
  readonly kind: BlockKind
  /** Work score that its issuer pays for, before the price is applied; 0 for a validation block. */
  readonly workScore: number
}

export const transactionStates = [
  'PENDING',
  'ACCEPTED',
  'COMMITTED',
  'FINALIZED',
  'FAILED',
] as const
export type TransactionState = (typeof transactionStates)[number]

/** Whether a transaction has spent its inputs and created its outputs. */
export function isBooked(state: TransactionState): boolean {
  return state !== 'PENDING' && state !== 'FAILED'
}

/** A transaction with the block with which it was judged. While it is pending, that is the earliest block that carries it. */
export interface TransactionRow {
  readonly transactionId: TransactionId
  readonly blockId: BlockId
  /** Slot in which the transaction is booked. While it is pending, the slot of its block. */
  readonly slot: SlotIndex
  readonly state: TransactionState
  /** Published failure reason (ledger reference 8) of a FAILED transaction. */
  readonly failureReason: number | undefined
}

/** An address and its total of base tokens, or of one native token. */
export interface AddressTotal {
  readonly address: Hex
  readonly total: bigint
}

/** An output, spent or not. */
export interface OutputRow {
  readonly outputId: OutputId
  readonly bytes: Uint8Array
  /** The block that carried its transaction; `undefined` if the upstream node did not report it. */
  readonly blockId: BlockId | undefined
  /** Slot in which the output was booked. Its creation slot for mana is part of its id. */
  readonly bookedSlot: SlotIndex
  readonly spentSlot: SlotIndex | undefined
  /** The spending transaction; `undefined` if the output is unspent or the upstream node did not report it. */
  readonly spentBy: TransactionId | undefined
}

/** Slots from `after` (exclusive) to `upTo` (inclusive). */
export interface SlotSpan {
  readonly after: SlotIndex
  readonly upTo: SlotIndex
}

/** The entry of an account at the end of a slot that changed it. `entry` is `undefined` if the slot deleted the account. */
export interface AccountVersion {
  readonly accountId: AccountId
  readonly slot: SlotIndex
  readonly entry: AccountEntry | undefined
}

/** An epoch: its committee, the candidates for the next committee, and its rewards after its end. */
export interface EpochRow {
  readonly epoch: EpochIndex
  readonly committee: readonly CommitteeSeat[]
  /** The accounts that announced their candidacy in time, in the order of their announcements, each once. */
  readonly candidates: readonly AccountId[]
  /** `undefined` during the epoch, and for an epoch that paid no rewards. */
  readonly rewards: EpochRewards | undefined
}

/** A member of an epoch's committee, with its stakes at the time of the election. */
export interface CommitteeSeat {
  readonly accountId: AccountId
  /** Base tokens of its own stake and of all delegations to it. */
  readonly poolStake: bigint
  readonly validatorStake: bigint
  /** Fixed cost in mana. */
  readonly fixedCost: bigint
}

/** One version of a chain record. The newest version is the current record. */
export interface ChainRecordVersion {
  /** Address of the chain in lower-case Bech32. */
  readonly chainId: string
  /** Version number, from 1 for each chain. */
  readonly version: number
  readonly accessNodes: readonly string[]
  readonly isActive: boolean
  /** The `sub` of the token, or its fingerprint if it has no `sub`. */
  readonly setBy: string
  /** Unix time in milliseconds. */
  readonly setAt: number
  /** Position among the changes of all chain records, counted from 1 without gaps, in commit order. */
  readonly change: number
}

/** A query of OWNED rows of one address. */
export interface OwnedQuery {
  readonly address: Hex
  readonly order: LogRange['order']
  /** First position in the requested order, inclusive; `undefined` for the first row in that order. */
  readonly from: OwnedPosition | undefined
  readonly limit: number
}

/** A position of the log, a slot, or a position within a slot, at which there need not be a row. */
export type OwnedPosition =
  | { readonly seq: number }
  | { readonly slot: SlotIndex }
  | (Pick<LedgerUpdate, 'outputId' | 'isSpent'> & { readonly slot: SlotIndex })

/** The columns of an OWNED row that the explorer lists. */
export type OwnedUpdate = Pick<LedgerUpdate, 'milestoneIndex' | 'outputId' | 'isSpent'>

/** The network a database belongs to. */
export interface NetworkRow {
  /** Eight random bytes that are created with the log. They are part of every cursor. */
  readonly logId: Hex
  /** The protocol parameters, serialized (codec reference 12). */
  readonly parameters: Uint8Array
}

/** A block of a slot, with the columns that the commitment of the slot depends on. */
export interface SlotBlock extends Pick<BlockRow, 'blockId' | 'slot' | 'issuerId' | 'workScore'> {
  /** `undefined` for a basic block that announces no candidacy. */
  readonly bytes: Uint8Array | undefined
}

/** A block with its issuer and issuing time. */
export type IssuedBlockRow = Pick<BlockRow, 'blockId' | 'slot' | 'issuerId' | 'issuingTime'>

/** Number of stored blocks in a range of slots, and how many of them were accepted. */
export interface BlockCounts {
  readonly all: number
  readonly accepted: number
}

export interface OutputPage {
  readonly rows: readonly OutputRow[]
  /** Whether this is the last page. */
  readonly isLast: boolean
}

/** A transaction that was accepted in a slot. */
export interface SlotTransaction {
  readonly slot: SlotIndex
  readonly transactionId: TransactionId
  readonly allotments: readonly Allotment[]
}

/** Receives the rows of a range of slots: accepted blocks, accepted transactions by slot and id, booked outputs, and spent outputs. */
export interface SlotConsumer {
  /** Called in the order of issuing. Only validation blocks and candidacy announcements have bytes. */
  block(block: SlotBlock): void
  transaction(transaction: SlotTransaction): void
  /** Called in no particular order. */
  created(output: OutputRow): void
  spent(output: OutputRow): void
}

/** All rows of a range of slots, as lists. */
export interface SlotContents {
  readonly blocks: readonly SlotBlock[]
  readonly transactions: readonly SlotTransaction[]
  readonly created: readonly OutputRow[]
  readonly spent: readonly OutputRow[]
}

export interface SpentOutput {
  readonly outputId: OutputId
  readonly spentSlot: SlotIndex
  /** `undefined` if the upstream node did not report it. */
  readonly spentBy: TransactionId | undefined
}

/** A page of the blocks of a slot. `from` is `undefined` for the first block in the order. */
export interface SlotBlocksPage {
  readonly order: 'ascending' | 'descending'
  readonly from: number | undefined
  readonly limit: number
}

export type NewChainRecord = Omit<ChainRecordVersion, 'version' | 'change'>
