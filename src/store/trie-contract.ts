import type { AccountEntry } from '../ledger/accounts.ts'
import type { AccountId, SlotIndex } from '../protocol/primitives.ts'
import type { AccountVersion, SlotSpan } from './rows.ts'

/** The tries behind the roots of commitments, kept in pages. The store knows no more of a page than its id. */

/** A page of a trie; the id is a whole number from 0, below 2^53. */
export interface TriePage {
  readonly id: number
  readonly bytes: Uint8Array
}

/** Pages that are new or have other bytes, and pages that are gone. */
export interface TrieChanges {
  readonly put: readonly TriePage[]
  readonly removed: readonly number[]
}

/** How far the pages of a ledger are. */
export interface TrieState {
  /** The slot at whose end the tries are what the pages have. */
  readonly slot: SlotIndex
  /** How much of them is there: the outputs whose paths begin with a byte below it; `allBuilt` when nothing is missing. */
  readonly built: number
}

/** Outputs of all paths, and the accounts. */
export const allBuilt = 257

/** Pages of tries that are being built for the ledger at the end of a slot. */
export interface TrieBuild extends TrieState {
  /** Whether to remove all pages first. */
  readonly isNew: boolean
  readonly put: readonly TriePage[]
}

/** An account; `undefined` where it was deleted. */
export interface NewestAccount {
  readonly accountId: AccountId
  readonly entry: AccountEntry | undefined
}

/** Reads of the pages, and of what they are built from. */
export interface TrieReads {
  /** Those of the pages that exist, in no order. */
  triePages(ids: readonly number[]): Promise<TriePage[]>
  /** `undefined` where nothing was built yet. */
  trieState(): Promise<TrieState | undefined>
  /** The number of outputs that are unspent as of the newest commitment. No cost. */
  unspentCount(): Promise<number>
  /** A page of the accounts that there ever were, with their newest entries, by id; an empty page is the end. */
  newestAccounts(after: AccountId | undefined): Promise<NewestAccount[]>
  /** Of some accounts the newest version up to a slot, and all after it, by slot. */
  accountHistories(accountIds: readonly AccountId[], slot: SlotIndex): Promise<AccountVersion[]>
  /** A page of the versions of all accounts in slots, by slot and account, behind one of them if it is given; an empty page is the end. */
  accountVersions(slots: SlotSpan, behind: AccountVersion | undefined): Promise<AccountVersion[]>
}
