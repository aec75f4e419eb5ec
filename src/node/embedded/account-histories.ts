import { LRUCache } from 'lru-cache'
import type { AccountEntry } from '../../ledger/accounts.ts'
import { grouped } from '../../lib/grouped.ts'
import type { AccountId, SlotIndex } from '../../protocol/primitives.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { AccountVersion } from '../../store/rows.ts'

/**
 * The versions of accounts of the last slots. Memory has those of accounts that were asked for last, up to a bound, and those
 * that are not written yet; the others are read by need.
 */
export interface AccountHistories {
  /** Reads what is missing of some accounts, and gives a function for their entries. */
  of(accountIds: readonly AccountId[]): Promise<EntryAt>
  /** Adds a version that is not written yet. */
  add(version: AccountVersion): Promise<void>
  /** Tells that all versions are in the database. */
  written(): void
}

/** The entry of one of the accounts at the end of a slot of the last ones, by default the newest. */
export type EntryAt = (accountId: AccountId, slot?: SlotIndex) => AccountEntry | undefined

type Versions = readonly AccountVersion[]

/** Opens them; versions of the last `kept` slots can be asked for, and up to `limit` versions stay in memory. */
export function openAccountHistories(
  read: Pick<StoreReader, 'accountHistories'>,
  {
    newest,
    kept,
    limit,
  }: { readonly newest: SlotIndex; readonly kept: number; readonly limit: number },
): AccountHistories {
  const cache = new LRUCache<AccountId, Versions>({
    maxSize: limit,
    sizeCalculation: (versions) => versions.length + 1,
  })
  const unwritten = new Map<AccountId, Versions>()
  const oldest = newest - kept
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
    const found = await readVersions(missing)
    for (const accountId of missing) {
      const versions = found.get(accountId) ?? []
      versionsById.set(accountId, versions)
      // A slot that was written meanwhile may have changed it.
      if (writes === before) cache.set(accountId, versions)
    }
    return (accountId, slot = Number.MAX_SAFE_INTEGER) =>
      versionsById.get(accountId)?.findLast((version) => version.slot <= slot)?.entry
  }

  async function readVersions(accountIds: readonly AccountId[]) {
    const versions: AccountVersion[] = []
    for (let at = 0; at < accountIds.length; at += accountsPerRead) {
      const some = accountIds.slice(at, at + accountsPerRead)
      versions.push(...(await read.accountHistories(some, oldest)))
    }
    return grouped(versions, ({ accountId }) => accountId)
  }

  async function versionsOf(accountId: AccountId): Promise<Versions> {
    const known = unwritten.get(accountId) ?? cache.get(accountId)
    return known ?? (await readVersions([accountId])).get(accountId) ?? []
  }

  async function add(version: AccountVersion): Promise<void> {
    const { accountId, slot } = version
    const former = await versionsOf(accountId)
    // Of the versions before the oldest slot that is kept only the last one is needed.
    const first = former.findLastIndex((one) => one.slot <= slot - kept)
    unwritten.set(accountId, [...former.slice(Math.max(first, 0)), version])
  }

  function written(): void {
    for (const [accountId, versions] of unwritten) cache.set(accountId, versions)
    unwritten.clear()
    writes++
  }

  return { of, add, written }
}

const accountsPerRead = 500
