import type { AccountEntry } from '../../ledger/accounts.ts'
import type { Hex } from '../../lib/hex.ts'
import type { Output } from '../../protocol/outputs.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { AccountId, OutputId, SlotIndex } from '../../protocol/primitives.ts'
import type { AddressTip, Milestone, NetworkRow, OutputRow, PrunedTip } from '../rows.ts'

/** Reads that export a snapshot of a ledger, and the rows that import one into a new database. */

/** Reads of the ledger at the end of an earlier slot. Each is one statement, and later commits do not affect its result. */
export interface LedgerSnapshotReads {
  /** A page of the unspent outputs, by id, after output `after` if given. An empty page is the end. */
  outputsAt(slot: SlotIndex, after: OutputId | undefined): Promise<OutputRow[]>
  /** A page of the accounts, by id; `undefined` at the end. */
  accountsAt(slot: SlotIndex, after: AccountId | undefined): Promise<AccountPage | undefined>
  /** A page of addresses with their newest rows up to a position of the log, by address; `undefined` at the end. */
  tipsAt(seq: number, after: AddressTip['historyHash'] | undefined): Promise<TipPage | undefined>
  /** The ordinals of some states in their chains. */
  chainOrdinals(states: readonly ChainPlace[]): Promise<ReadonlyMap<OutputId, number>>
  /** The milestone with the row at a position; `undefined` if it is unknown. */
  milestoneHolding(seq: number): Promise<Milestone | undefined>
  /** A page of the ids of blocks or transactions that a committed slot accepted; `undefined` at the end. */
  acceptedIn(slot: SlotIndex, what: Accepted, after?: IdPage['last']): Promise<IdPage | undefined>
  /** Progress of an unfinished import; `undefined` if none has begun, or if it is complete. */
  snapshotProgress(): Promise<ReceivedSnapshot | undefined>
}

/** Maximum number of outputs per page. */
export const outputsPerPage = 500

/** The items that a slot accepts. */
export type Accepted = 'blocks' | 'transactions'

/** A page of ids, and the position after which the next page begins. */
export interface IdPage {
  readonly ids: readonly Hex[]
  readonly last: readonly (string | number | Uint8Array)[]
}

/** An account at the end of a slot. */
export interface AccountAt {
  readonly accountId: AccountId
  readonly entry: AccountEntry
}

/** A page of accounts. `accounts` is empty if all accounts of the page were destroyed. */
export interface AccountPage {
  readonly accounts: readonly AccountAt[]
  /** The last account of the page, destroyed or not. */
  readonly last: AccountId
}

export interface TipPage {
  /** Tips by address and class. A tip at a later position replaces rows that are pruned. */
  readonly tips: readonly PrunedTip[]
  /** The last address of the page. */
  readonly last: AddressTip['historyHash']
}

export interface ChainPlace {
  readonly chainId: AddressTip['historyHash']
  readonly outputId: OutputId
}

export interface SnapshotProgress {
  /** First line of the snapshot, as JSON. */
  readonly head: string
  /** Position at which the import continues. */
  readonly position: string
}

/** The progress, with the base tokens of the outputs that are imported. */
export interface ReceivedSnapshot extends SnapshotProgress {
  readonly baseTokens: bigint
}

export interface SnapshotOutput extends Omit<OutputRow, 'spentSlot' | 'spentBy'> {
  /** The decoded bytes. */
  readonly output: Output
  /** Position among the states of its chain; `undefined` for an output without a chain. */
  readonly chainOrdinal: number | undefined
}

/** The next rows of a snapshot, and the progress after them. */
export interface SnapshotPart {
  readonly progress: SnapshotProgress
  readonly slot: SlotIndex
  readonly parameters: ProtocolParameters
  readonly outputs: readonly SnapshotOutput[]
  readonly accounts: readonly AccountAt[]
  readonly tips: readonly PrunedTip[]
}

/** The rows that complete a database after all parts of a snapshot were added. */
export interface SnapshotEnd {
  readonly network: NetworkRow
  /** Milestones, of which the last is the milestone of the snapshot. */
  readonly milestones: readonly Milestone[]
}
