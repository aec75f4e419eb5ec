import type { AccountEntry } from '../../ledger/accounts.ts'
import type { AccountId, SlotIndex } from '../../protocol/primitives.ts'
import type { AccountVersion, SlotSpan } from '../rows.ts'

/** The tries behind the roots of commitments, stored in pages. The store does not interpret the bytes of a page. */

/** A page of a trie. The id is an integer from 0 to 2^53 - 1. */
export interface TriePage {
  readonly id: number
  readonly bytes: Uint8Array
}

/** New or changed pages, and the ids of removed pages. */
export interface TrieChanges {
  readonly put: readonly TriePage[]
  readonly removed: readonly number[]
}

/** The state of the pages of a ledger. */
export interface TrieState {
  /** The pages have the state of the tries at the end of this slot. */
  readonly slot: SlotIndex
  /** Progress of the build: outputs are built if their path begins with a byte below this number. `allBuilt` if the tries are complete. */
  readonly built: number
}

/** Value of `built` for complete tries: outputs of all paths, and the accounts. */
export const allBuilt = 257

/** Pages of tries that are being built for the ledger at the end of a slot. */
export interface TrieBuild extends TrieState {
  /** Whether to remove all pages first. */
  readonly isNew: boolean
  readonly put: readonly TriePage[]
}

/** An account with its newest entry. `entry` is `undefined` if the account was deleted. */
export interface NewestAccount {
  readonly accountId: AccountId
  readonly entry: AccountEntry | undefined
}

/** Reads of the pages, and of the data that they are built from. */
export interface TrieReads {
  /** The pages that exist, in no particular order. */
  triePages(ids: readonly number[]): Promise<TriePage[]>
  /** The state of the pages; `undefined` if no page was built yet. */
  trieState(): Promise<TrieState | undefined>
  /** Number of unspent outputs at the newest commitment. The cost is negligible. */
  unspentCount(): Promise<number>
  /** A page of all accounts that ever existed, with their newest entries, by id. An empty page is the end. */
  newestAccounts(after: AccountId | undefined): Promise<NewestAccount[]>
  /** The newest version of each account up to a slot, and all later versions, by slot. */
  accountHistories(accountIds: readonly AccountId[], slot: SlotIndex): Promise<AccountVersion[]>
  /** A page of the account versions in `slots`, by slot and account, after version `behind` if given. An empty page is the end. */
  accountVersions(slots: SlotSpan, behind: AccountVersion | undefined): Promise<AccountVersion[]>
}
