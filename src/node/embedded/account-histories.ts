import { LRUCache } from 'lru-cache'
import type { AccountEntry } from '../../ledger/accounts.ts'
import type { AccountId, SlotIndex } from '../../protocol/primitives.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { AccountVersion } from '../../store/rows.ts'

/**
 * The account versions of recent slots. Memory holds the versions of the most recently used accounts, up to a limit, and the
 * versions that are not written yet. Other versions are read from the database on demand.
 */
export interface AccountHistories {
  /** Loads some accounts. Returns a function that reads their entries. */
  of(accountIds: readonly AccountId[]): Promise<EntryAt>
  /** Adds the versions of the next slot, which is not written yet. A slot may change any number of accounts. */
  add(versions: readonly AccountVersion[]): Promise<void>
  /** Marks all versions as stored in the database. */
  written(): void
}

/** Returns the entry of a loaded account at the end of a recent slot, by default the newest slot. */
export type EntryAt = (accountId: AccountId, slot?: SlotIndex) => AccountEntry | undefined

type Versions = readonly AccountVersion[]

/** The slots that histories cover, and the limit of their cache. */
export interface HistoryLimits {
  /** The newest committed slot. */
  readonly newest: SlotIndex
  /** The number of slots before the newest one that are covered. */
  readonly kept: number
  /** Maximum number of versions in memory that are written already. */
  readonly limit: number
}

/** Opens the histories. They cover the last `kept` slots, and up to `limit` versions stay in memory. */
export function openAccountHistories(
  read: Pick<StoreReader, 'accountHistories'>,
  { newest: opened, kept, limit }: HistoryLimits,
): AccountHistories {
  const cache = new LRUCache<AccountId, Versions>({
    maxSize: limit,
    sizeCalculation: (versions) => versions.length + 1,
  })
  const unwritten = new Map<AccountId, Versions>()
  /** The newest slot with a version. A writer runs for months, and reads must not go back to the slot in which it began. */
  let newest = opened
  let writes = 0

  async function of(accountIds: readonly AccountId[]): Promise<EntryAt> {
    const versionsById = new Map<AccountId, Versions>()
    const missing: AccountId[] = []
    for (const accountId of new Set(accountIds)) {
      const known = unwritten.get(accountId) ?? cache.get(accountId)
      if (known === undefined) missing.push(accountId)
      else versionsById.set(accountId, known)
    }
    const before = writes
    const found = await readVersions(read, missing, newest - kept)
    for (const accountId of missing) {
      const versions = found.get(accountId) ?? []
      versionsById.set(accountId, versions)
      // A slot that was written during the read may have changed the account.
      if (writes === before) cache.set(accountId, versions)
    }
    return (accountId, slot = Number.MAX_SAFE_INTEGER) =>
      versionsById.get(accountId)?.findLast((version) => version.slot <= slot)?.entry
  }

  async function add(versions: readonly AccountVersion[]): Promise<void> {
    for (const { slot } of versions) newest = Math.max(newest, slot)
    const knownOf = (accountId: AccountId) => unwritten.get(accountId) ?? cache.get(accountId)
    const missing = versions.flatMap(({ accountId }) =>
      knownOf(accountId) === undefined ? accountId : [],
    )
    const found = await readVersions(read, missing, newest - kept)
    for (const version of versions) {
      const { accountId, slot } = version
      const former = knownOf(accountId) ?? found.get(accountId) ?? []
      // Of the versions before the oldest kept slot only the last one is needed.
      const first = former.findLastIndex((other) => other.slot <= slot - kept)
      unwritten.set(accountId, [...former.slice(Math.max(first, 0)), version])
    }
  }

  function written(): void {
    for (const [accountId, versions] of unwritten) cache.set(accountId, versions)
    unwritten.clear()
    writes++
  }

  return { of, add, written }
}

async function readVersions(
  read: Pick<StoreReader, 'accountHistories'>,
  accountIds: readonly AccountId[],
  oldest: SlotIndex,
) {
  const versions: AccountVersion[] = []
  for (let at = 0; at < accountIds.length; at += accountsPerRead) {
    const some = accountIds.slice(at, at + accountsPerRead)
    for (const version of await read.accountHistories(some, oldest)) versions.push(version)
  }
  return Map.groupBy(versions, ({ accountId }) => accountId)
}

const accountsPerRead = 500
