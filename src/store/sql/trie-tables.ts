import { bytes, int, long, optional, ownId, table, writtenTable } from './columns.ts'

/** Tables of tries, and the table of accounts from which one trie is built. */

export const accountEntries = table('account_versions', {
  accountId: ownId<'AccountId'>(),
  slot: long,
  entry: optional(bytes),
})

export const accountSlots = writtenTable('account_versions', {
  accountId: ownId<'AccountId'>(),
  slot: long,
})

export const triePages = table('trie_pages', { id: long, bytes })

/** Pages of tries as parts of one parameter: offset in bytes, counted from 1, and length. */
export const trieParts = writtenTable('trie_pages', { id: long, from: int, length: int })

export const triePageIds = table('trie_pages', { id: long })

/** Progress of the stored pages of tries. */
export const trieStates = table('trie_state', { id: long, slot: long, built: long })
