import { bytes, id, int, long, named, optional, table, writtenTable } from './columns.ts'

/** The tables of tries, and accounts as what one of them is built from. */

/** Accounts with their entries. */
export const accountEntries = table('account_versions', {
  accountId: named('id', id<'AccountId'>()),
  slot: long,
  entry: optional(bytes),
})

/** Accounts, and a slot for each. */
export const accountSlots = writtenTable('account_versions', {
  accountId: named('id', id<'AccountId'>()),
  slot: long,
})

/** Pages of tries. */
export const triePages = table('trie_pages', { id: long, bytes })

/** Pages of tries, as parts of one parameter: where one begins, counted from 1, and how long it is. */
export const trieParts = writtenTable('trie_pages', { id: long, from: int, length: int })

/** Pages of tries by id. */
export const triePageIds = table('trie_pages', { id: long })

/** How far the pages of tries are. */
export const trieStates = table('trie_state', { id: long, slot: long, built: long })
