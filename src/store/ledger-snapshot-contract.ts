import type { AccountEntry } from '../ledger/accounts.ts'
import type { Hex } from '../lib/hex.ts'
import type { Output } from '../protocol/outputs.ts'
import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { AccountId, OutputId, SlotIndex } from '../protocol/primitives.ts'
import type { AddressTip, Milestone, NetworkRow, OutputRow, PrunedTip } from './rows.ts'

/** What a snapshot of a ledger is read from, and how one becomes the beginning of a database. */

/** Reads of the ledger as it was at the end of a former slot. Each is one statement, and complete whatever is committed meanwhile. */
export interface LedgerSnapshotReads {
  /** A page of the outputs that were unspent, by id, after one if it is given; an empty page is the end. */
  outputsAt(slot: SlotIndex, after: OutputId | undefined): Promise<OutputRow[]>
  /** A page of the accounts, by id; `undefined` at the end. */
  accountsAt(slot: SlotIndex, after: AccountId | undefined): Promise<AccountPage | undefined>
  /** A page of addresses with their newest rows up to a position of the log, by address; `undefined` at the end. */
  tipsAt(seq: number, after: AddressTip['historyHash'] | undefined): Promise<TipPage | undefined>
  /** The ordinals that some states have in their chains. */
  chainOrdinals(states: readonly ChainPlace[]): Promise<ReadonlyMap<OutputId, number>>
  /** The milestone that holds the row at a position; `undefined` where it is not known. */
  milestoneHolding(seq: number): Promise<Milestone | undefined>
  /** A page of the ids of what was accepted in a committed slot; `undefined` at the end. */
  acceptedIn(slot: SlotIndex, what: Accepted, after?: IdPage['last']): Promise<IdPage | undefined>
  /** How much of a snapshot is here; `undefined` where none was begun, or it is whole. */
  snapshotProgress(): Promise<ReceivedSnapshot | undefined>
}

/** The most outputs of a page. */
export const outputsPerPage = 500

/** What a slot accepts. */
export type Accepted = 'blocks' | 'transactions'

/** Some ids, and where the next page begins. */
export interface IdPage {
  readonly ids: readonly Hex[]
  readonly last: readonly (string | number | Uint8Array)[]
}

/** An account at the end of a slot. */
export interface AccountAt {
  readonly accountId: AccountId
  readonly entry: AccountEntry
}

/** Some accounts; none where all of the page had been destroyed. */
export interface AccountPage {
  readonly accounts: readonly AccountAt[]
  /** The last account of the page, destroyed or not. */
  readonly last: AccountId
}

/** Tips of some addresses. */
export interface TipPage {
  /** By address and class. One of a later position stands for rows that are no longer kept. */
  readonly tips: readonly PrunedTip[]
  /** The last address of the page. */
  readonly last: AddressTip['historyHash']
}

/** A state of a chain. */
export interface ChainPlace {
  readonly chainId: AddressTip['historyHash']
  readonly outputId: OutputId
}

/** How far a snapshot has come. */
export interface SnapshotProgress {
  /** Its first line, as JSON. */
  readonly head: string
  /** Where to go on. */
  readonly position: string
}

/** The same with the base tokens of the outputs that are here. */
export interface ReceivedSnapshot extends SnapshotProgress {
  readonly baseTokens: bigint
}

/** An output of a snapshot; `chainOrdinal` is its place among the states of its chain, of an output that is one. */
export interface SnapshotOutput extends Omit<OutputRow, 'spentSlot' | 'spentBy'> {
  /** What the bytes mean. */
  readonly output: Output
  readonly chainOrdinal: number | undefined
}

/** The next rows of a snapshot, and how far they reach. */
export interface SnapshotPart {
  readonly progress: SnapshotProgress
  readonly slot: SlotIndex
  readonly parameters: ProtocolParameters
  readonly outputs: readonly SnapshotOutput[]
  readonly accounts: readonly AccountAt[]
  readonly tips: readonly PrunedTip[]
}

/** What a database has beside the parts of a snapshot, once all of them are here. */
export interface SnapshotEnd {
  readonly network: NetworkRow
  /** The last is that of the snapshot. */
  readonly milestones: readonly Milestone[]
}
