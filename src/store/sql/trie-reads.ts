import { accountEntryFrom } from '../../ledger/accounts.ts'
import { hexToBytes } from '../../lib/hex.ts'
import { rowsPerTurn } from '../contract/list.ts'
import type { TrieReads } from '../contract/trie.ts'
import type { AccountVersion } from '../rows.ts'
import { jsonOf } from './bulk.ts'
import type { Reading } from './reading.ts'
import { accountEntries, accountSlots, triePageIds, triePages, trieStates } from './trie-tables.ts'

/** Reads of trie pages, and of the data that tries are built from. */
export function trieReads({ query, dialect, row, rows, keyed }: Reading): TrieReads {
  const pages = keyed(triePages, triePageIds)
  const state = row(trieStates, 'WHERE id = 1')
  // Qualified with the table: by the bare name, PostgreSQL would sort by the selected text.
  const accounts = rows(
    accountEntries,
    `WHERE id > ? AND slot = (SELECT max(newer.slot) FROM account_versions AS newer
        WHERE newer.id = account_versions.id)
      ORDER BY account_versions.id LIMIT ${pageLimit}`,
  )
  const histories = rows(
    accountEntries,
    `JOIN ${dialect.given(accountSlots.columns)} ON given.id = account_versions.id
      AND account_versions.slot >= coalesce((SELECT max(former.slot) FROM account_versions AS former
        WHERE former.id = given.id AND former.slot <= given.slot), 0)`,
  )
  const versions = rows(
    accountEntries,
    `WHERE slot >= ?1 AND slot <= ?3 AND (slot > ?1 OR id > ?2)
      ORDER BY account_versions.slot, account_versions.id LIMIT ${rowsPerTurn}`,
  )

  return {
    triePages: (ids) => pages(ids.map((id) => ({ id }))),
    trieState: () => state(),
    unspentCount: async () => {
      const [sum] = await query('SELECT coalesce(sum(outputs), 0) FROM output_counts', [])
      return Number(sum?.[0])
    },
    newestAccounts: async (after) => {
      const found = await accounts(after === undefined ? new Uint8Array() : hexToBytes(after))
      return found.map(versionOf)
    },
    accountHistories: async (accountIds, slot) => {
      if (accountIds.length === 0) return []
      const keys = accountIds.map((accountId) => ({ accountId, slot }))
      const found = await histories(jsonOf(dialect, accountSlots, keys))
      return found.map(versionOf).sort((a, b) => a.slot - b.slot)
    },
    accountVersions: async ({ after, upTo }, behind) => {
      const place = behind && hexToBytes(behind.accountId)
      const found = await versions(behind?.slot ?? after + 1, place ?? new Uint8Array(), upTo)
      return found.map(versionOf)
    },
  }
}

/** Parses the entry of a version. */
export function versionOf(row: ReturnType<typeof accountEntries.rowOf>): AccountVersion {
  return { ...row, entry: row.entry && accountEntryFrom(row.entry) }
}

const pageLimit = 500
