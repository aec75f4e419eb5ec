import { accountEntryFrom } from '../../ledger/accounts.ts'
import { present } from '../../lib/assert.ts'
import { hexToBytes } from '../../lib/hex.ts'
import type { StoreReader } from '../contract.ts'
import { classToNumber } from '../values.ts'
import { noTip } from '../write/append.ts'
import { accountVersions, addressTips, commitments, prunedTips } from './bulk-tables.ts'
import { scanOfAddress } from './log-scans.ts'
import type { Reading } from './reading.ts'

/** Reads of committed slots, of accounts at a slot, and of the tips of addresses. */
export function slotReads({ row, rows, rowsFrom, dialect }: Reading) {
  const bySlot = row(commitments, 'WHERE slot = ?')
  const byId = row(commitments, 'WHERE id = ?')
  const latest = row(commitments, 'ORDER BY slot DESC LIMIT 1')
  const after = rows(commitments, 'WHERE slot > ? ORDER BY slot LIMIT ?')
  const between = 'WHERE slot >= ? AND slot <= ? ORDER BY slot'
  const milestones = {
    ascending: rows(commitments, `${between} LIMIT ?`),
    descending: rows(commitments, `${between} DESC LIMIT ?`),
  }
  const account = row(accountVersions, 'WHERE id = ? AND slot <= ? ORDER BY slot DESC LIMIT 1')
  const newest = { address: '?1', class: '?2', direction: 'DESC', limit: '1' } as const
  const keptTips = rowsFrom(addressTips, scanOfAddress(dialect, newest))
  const prunedTip = row(prunedTips, 'WHERE address = ? AND class = ?')

  return {
    milestone: (slot) => bySlot(slot),
    milestoneByCommitment: (commitmentId) => byId(hexToBytes(commitmentId)),
    latestMilestone: async () => present(await latest(), 'genesis commitment'),
    milestonesAfter: (slot, limit) => after(slot, limit),
    milestones: ({ from, to, order, limit }) => milestones[order](from, to, limit),
    accountEntry: async (accountId, slot = Number.MAX_SAFE_INTEGER) => {
      const version = await account(hexToBytes(accountId), slot)
      return version?.entry && accountEntryFrom(version.entry)
    },
    addressTip: async (address, updateClass) => {
      const key = [hexToBytes(address), classToNumber(updateClass)] as const
      const [kept] = await keptTips(...key)
      const tip = kept ?? (await prunedTip(...key)) ?? noTip
      return { ordinal: tip.ordinal, historyHash: tip.historyHash }
    },
    prunedTip: (address, updateClass) => prunedTip(hexToBytes(address), classToNumber(updateClass)),
  } satisfies Partial<StoreReader>
}
