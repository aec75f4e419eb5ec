import { bytes, id, long, named, optional, table, writtenTable } from './columns.ts'

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

/** Pages of tries by id. */
export const triePageIds = table('trie_pages', { id: long })

/** How far the pages of tries are. */
export const trieStates = table('trie_state', { id: long, slot: long, built: long })
