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

/** What the database holds, as plain values. Ids are text here and bytes in the database. */

export type { LogEntry, Role, UpdateClass } from '../ledger/updates.ts'

/** A position of the log. */
export interface LogPosition {
  /** 0 (before the first row) to 2^53 - 1. */
  readonly seq: number
  /**
   * Binds the position to the history before it: the first 6 bytes of the commitment of the milestone that holds the row,
   * zeros at the position 0. Two copies of a database that diverged differ here after the fork.
   */
  readonly branch: Hex
}

/** One row of the log. Its `seq` is dense, from 1, in commit order. */
export interface LedgerUpdate extends LogEntry, LogPosition {
  /** Position among the updates of this address and class: dense, from 1. */
  readonly ordinal: number
  /** The committed slot. */
  readonly milestoneIndex: SlotIndex
  /** SHA-256 over the former history hash of this address and class and this row (design: one idea). */
  readonly historyHash: Hex
  /** Base tokens that the address owns at the end of the milestone; absent in class MENTIONED. */
  readonly balance?: bigint | undefined
}

/**
 * A range of the log. `after` and `before` are positions and exclusive; there need be no row at either. Of one address and
 * both classes it is read in two scans, which agree only up to a tip that was read earlier: keep `before` within it.
 */
export interface LogRange {
  /** Left out: the whole log. */
  readonly address?: Hex
  readonly classes: readonly UpdateClass[]
  readonly after: number
  readonly before: number
  readonly limit: number
  readonly order: 'ascending' | 'descending'
}

/** A page of one address and class. */
export interface AddressPageQuery
  extends Pick<LogRange, 'after' | 'before' | 'limit' | 'order'>,
    Pick<LedgerUpdate, 'address' | 'class'> {
  /** Where cursors cut the list. */
  readonly cursors?: {
    /** Positions behind the beginning of the page, both included. */
    readonly behind: readonly [from: number, to: number]
    /** The two positions whose branches are asked for; 0 for none. */
    readonly seqs: readonly [number, number]
  }
}

/** The answer, all of one moment. */
export interface AddressPage {
  readonly tip: LogTip
  /** The updates of the address and class, those that are no longer kept included. */
  readonly count: number
  readonly rows: readonly LedgerUpdate[]
  /** Whether the address has rows at the positions `behind`. */
  readonly hasRowsBehind: boolean
  /** The branches of `seqs`; none where no cursors were given. */
  readonly branches: readonly Hex[]
}

/** How far the log reaches. */
export interface LogTip extends LogPosition {
  /** Random, made with the log; part of every cursor. */
  readonly logId: Hex
  /** The newest committed slot. */
  readonly slot: SlotIndex
  readonly commitmentId: CommitmentId
  /** Rows up to and including this position are no longer kept; 0 where all are. */
  readonly prunedSeq: number
  /** The branch of that position. */
  readonly prunedBranch: Hex
}

/** How far the updates of one address and class reach: the total count, and the newest history hash. */
export interface AddressTip {
  readonly ordinal: number
  readonly historyHash: Hex
}

/** The newest update of an address and class among those that are no longer kept. */
export type PrunedTip = Pick<
  LedgerUpdate,
  'address' | 'class' | 'ordinal' | 'historyHash' | 'milestoneIndex' | 'balance'
>

/** A committed slot; `firstSeq` to `lastSeq` are its rows, and an empty slot has `firstSeq = lastSeq + 1`. */
export interface Milestone {
  readonly slot: SlotIndex
  readonly commitmentId: CommitmentId
  /** The 89 bytes of the slot commitment. */
  readonly bytes: Uint8Array
  readonly firstSeq: number
  readonly lastSeq: number
}

/** The state of a block. Accepted means booked; the slot's commit makes it final. */
export type BlockState = 'PENDING' | 'ACCEPTED' | 'CONFIRMED' | 'FINALIZED' | 'DROPPED'

/** A validation block, or a basic one by its payload; one without a payload is just basic. */
export type BlockKind = 'basic' | 'validation' | 'candidacy' | 'tagged' | 'transaction'

/** A block as it came. `inbox` is its place in the order of arrival: dense enough, unique, rising. */
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
  /** What its issuer is charged for, before the price; 0 for a validation block. */
  readonly workScore: number
}

/** The state of a transaction. */
export type TransactionState = 'PENDING' | 'ACCEPTED' | 'COMMITTED' | 'FINALIZED' | 'FAILED'

/** A transaction, by the block by which it was judged; while it is pending, by the earliest that carries it. */
export interface TransactionRow {
  readonly transactionId: TransactionId
  readonly blockId: BlockId
  /** The slot it is booked in; while pending, its block's. */
  readonly slot: SlotIndex
  readonly state: TransactionState
  /** The published failure reason (ledger reference 8) of a FAILED one. */
  readonly failureReason: number | undefined
}

/** An address and all that it owns: base tokens, or one native token. */
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
  /** The slot it was booked in; its creation slot for mana is in its id. */
  readonly bookedSlot: SlotIndex
  readonly spentSlot: SlotIndex | undefined
  /** Of a spent one; `undefined` if the upstream node did not report it. */
  readonly spentBy: TransactionId | undefined
}

/** The slots after one up to another one. */
export interface SlotSpan {
  readonly after: SlotIndex
  readonly upTo: SlotIndex
}

/** The entry of an account at the end of a slot that changed it; `undefined` where the slot deleted it. */
export interface AccountVersion {
  readonly accountId: AccountId
  readonly slot: SlotIndex
  readonly entry: AccountEntry | undefined
}

/** An epoch: who validates in it, who is a candidate for the next one, and what it paid, once it is over. */
export interface EpochRow {
  readonly epoch: EpochIndex
  readonly committee: readonly CommitteeSeat[]
  /** The accounts that announced their candidacy in it and in time, in that order, each once. */
  readonly candidates: readonly AccountId[]
  /** `undefined` while the epoch lasts, and where it paid nothing. */
  readonly rewards: EpochRewards | undefined
}

/** A validator of an epoch's committee, with its stakes as of its choice. */
export interface CommitteeSeat {
  readonly accountId: AccountId
  /** Base tokens: its own stake and all delegations to it. */
  readonly poolStake: bigint
  readonly validatorStake: bigint
  /** Mana. */
  readonly fixedCost: bigint
}

/** One version of a chain record; the newest is the record. */
export interface ChainRecordVersion {
  /** Bech32 in lower case, as addressed. */
  readonly chainId: string
  /** 1, 2, 3 … for each chain. */
  readonly version: number
  readonly accessNodes: readonly string[]
  readonly isActive: boolean
  /** The `sub` of the token, or its fingerprint where it has none. */
  readonly setBy: string
  /** Unix time in milliseconds. */
  readonly setAt: number
  /** Position among the settings of all chains: dense, from 1, in commit order. */
  readonly change: number
}

/** Rows of the class OWNED of one address. */
export interface OwnedQuery {
  readonly address: Hex
  readonly order: LogRange['order']
  /** Where to begin, in that order, itself included; `undefined` for the end of the list. */
  readonly from: OwnedPosition | undefined
  readonly limit: number
}

/** A position of the log, a slot, or a place in a slot whether or not a row lies there. */
export type OwnedPosition =
  | { readonly seq: number }
  | { readonly slot: SlotIndex }
  | (Pick<LedgerUpdate, 'outputId' | 'isSpent'> & { readonly slot: SlotIndex })

/** The members of such a row that the explorer lists. */
export type OwnedUpdate = Pick<LedgerUpdate, 'milestoneIndex' | 'outputId' | 'isSpent'>

/** The network a database belongs to. */
export interface NetworkRow {
  /** 8 random bytes, made with the log; part of every cursor. */
  readonly logId: Hex
  /** The protocol parameters, serialized (codec reference 12). */
  readonly parameters: Uint8Array
}

/** A block of a slot, as far as the slot's commitment is concerned. */
export interface SlotBlock extends Pick<BlockRow, 'blockId' | 'slot' | 'issuerId' | 'workScore'> {
  /** `undefined` for a basic block that announces no candidacy. */
  readonly bytes: Uint8Array | undefined
}

/** Who issued a block, and when. */
export type IssuedBlockRow = Pick<BlockRow, 'blockId' | 'slot' | 'issuerId' | 'issuingTime'>

/** Blocks of a range of slots: all that were kept, and those among them that were accepted. */
export interface BlockCounts {
  readonly all: number
  readonly accepted: number
}

/** Some outputs of a list. */
export interface OutputPage {
  readonly rows: readonly OutputRow[]
  /** Whether the list ends with them. */
  readonly isLast: boolean
}

/** A transaction that was accepted in a slot. */
export interface SlotTransaction {
  readonly slot: SlotIndex
  readonly transactionId: TransactionId
  readonly allotments: readonly Allotment[]
}

/** Takes what a range of slots holds: accepted blocks and transactions, outputs booked and outputs spent, by id. */
export interface SlotTaker {
  /** In the order of issuing; the bytes of validation blocks and candidacy announcements alone. */
  block(block: SlotBlock): void
  transaction(transaction: SlotTransaction): void
  /** In no order. */
  created(output: OutputRow): void
  spent(output: OutputRow): void
}

/** All of it, as lists. */
export interface SlotContents {
  readonly blocks: readonly SlotBlock[]
  readonly transactions: readonly SlotTransaction[]
  readonly created: readonly OutputRow[]
  readonly spent: readonly OutputRow[]
}

/** An output that ends. */
export interface SpentOutput {
  readonly outputId: OutputId
  readonly spentSlot: SlotIndex
  /** `undefined` if the upstream node did not report it. */
  readonly spentBy: TransactionId | undefined
}

/** Which blocks of a slot; `from` is left out for the first in the order. */
export interface SlotBlocksPage {
  readonly order: 'ascending' | 'descending'
  readonly from: number | undefined
  readonly limit: number
}

/** A record to be set. */
export type NewChainRecord = Omit<ChainRecordVersion, 'version' | 'change'>
