import type { AccountEntry } from '../../ledger/accounts.ts'
import { poolStakeOf } from '../../ledger/committee.ts'
import { passTurn } from '../../lib/turns.ts'
import type { AccountId, CommitmentId, SlotIndex } from '../../protocol/primitives.ts'
import { rowsPerTurn } from '../../store/contract/list.ts'
import type { StoreReader } from '../../store/contract.ts'
import { comparePositions } from '../../store/positions.ts'
import type { AccountVersion, SlotSpan } from '../../store/rows.ts'

/** Reads all accounts that stake. */
export interface Stakers {
  /** The accounts as of the end of a committed slot: the smallest pool first, and equal pools by account id. */
  at(slot: SlotIndex): Promise<readonly AccountEntry[]>
}

type Read = Pick<StoreReader, 'accountsAt' | 'accountVersions' | 'milestone'>

/** The accounts that stake at the end of a slot. */
interface Stakes extends Found {
  readonly commitmentId: CommitmentId | undefined
}

interface Found {
  readonly entries: readonly AccountEntry[]
  /** Number of accounts at the last read of all accounts. */
  readonly accounts: number
}

/**
 * Reads all accounts once, page by page, because the database has no index of staking accounts. Later slots need only the
 * changed accounts. Results of some slots are cached: a query that began before the newest commit reads as of the slot before.
 */
export function createStakers(read: Read): Stakers {
  const bySlot = new Map<SlotIndex, Promise<Stakes>>()

  async function at(slot: SlotIndex): Promise<readonly AccountEntry[]> {
    await forgetOther(slot)
    const reading = bySlot.get(slot) ?? begin(slot)
    try {
      return (await reading).entries
    } catch (failure) {
      // The next call tries again, even if the slot is the same.
      if (bySlot.get(slot) === reading) bySlot.delete(slot)
      throw failure
    }
  }

  /** Removes a cached result of another history: an older copy has replaced the database, and the slot was committed again. */
  async function forgetOther(slot: SlotIndex): Promise<void> {
    const cached = bySlot.get(slot)
    if (cached === undefined) return
    const { commitmentId } = await cached
    const kept = await read.milestone(slot)
    if (kept?.commitmentId !== commitmentId && bySlot.get(slot) === cached) bySlot.delete(slot)
  }

  function begin(slot: SlotIndex): Promise<Stakes> {
    const reading = stakesAt(read, slot, newestBefore(slot))
    bySlot.set(slot, reading)
    const [oldest] = bySlot.keys()
    if (bySlot.size > maxCachedSlots && oldest !== undefined) bySlot.delete(oldest)
    return reading
  }

  function newestBefore(slot: SlotIndex): Known | undefined {
    let newest: Known | undefined
    for (const [one, stakes] of bySlot) {
      if (one < slot && one > (newest?.slot ?? -1)) newest = { slot: one, stakes }
    }
    return newest
  }

  return { at }
}

/** Maximum number of cached slots. A query reads for at most ten seconds. */
const maxCachedSlots = 16

interface Known {
  readonly slot: SlotIndex
  readonly stakes: Promise<Stakes>
}

async function stakesAt(read: Read, slot: SlotIndex, former: Known | undefined): Promise<Stakes> {
  const commitmentId = (await read.milestone(slot))?.commitmentId
  const found = former && (await stakesSince(read, slot, former))
  return { commitmentId, ...(found ?? (await allStakes(read, slot))) }
}

/**
 * Applies the changes since a former slot to its accounts. `undefined` if an older copy has replaced the database, or if
 * reading all accounts is cheaper.
 */
async function stakesSince(
  read: Pick<Read, 'accountVersions' | 'milestone'>,
  slot: SlotIndex,
  former: Known,
): Promise<Found | undefined> {
  const { commitmentId, entries, accounts } = await former.stakes
  const kept = await read.milestone(former.slot)
  if (kept === undefined || kept.commitmentId !== commitmentId) return undefined
  const changes = await changesOf(read, { after: former.slot, upTo: slot }, accounts)
  return changes && { entries: withChanges(entries, changes), accounts }
}

/** Reads all accounts. A ledger may have a million of them, so other work runs between the pages. */
async function allStakes(read: Pick<Read, 'accountsAt'>, slot: SlotIndex): Promise<Found> {
  const entries: AccountEntry[] = []
  let accounts = 0
  for (let after: AccountId | undefined; ; ) {
    await passTurn()
    const page = await read.accountsAt(slot, after)
    if (page === undefined) return { entries: entries.sort(byPlace), accounts }
    accounts += page.accounts.length
    for (const { entry } of page.accounts) if (doesStake(entry)) entries.push(entry)
    after = page.last
  }
}

/** The accounts that some slots changed, each with its newest entry. */
type Changes = ReadonlyMap<AccountId, AccountEntry | undefined>

/** Reads the changes of some slots; `undefined` if there are more changes than accounts, so that reading all accounts is cheaper. */
async function changesOf(
  read: Pick<Read, 'accountVersions'>,
  slots: SlotSpan,
  accounts: number,
): Promise<Changes | undefined> {
  const changes = new Map<AccountId, AccountEntry | undefined>()
  let count = 0
  for (let last: AccountVersion | undefined; ; ) {
    const versions = await read.accountVersions(slots, last)
    last = versions.at(-1)
    if (last === undefined) return changes
    count += versions.length
    if (count > Math.max(accounts, rowsPerTurn)) return undefined
    for (const { accountId, entry } of versions) changes.set(accountId, entry)
    await passTurn()
  }
}

function withChanges(entries: readonly AccountEntry[], changes: Changes): readonly AccountEntry[] {
  if (changes.size === 0) return entries
  const same = entries.filter(({ accountId }) => !changes.has(accountId))
  // The sort needs one comparison for each entry that is already in order.
  return [...same, ...[...changes.values()].filter(doesStake)].sort(byPlace)
}

function doesStake(entry: AccountEntry | undefined): entry is AccountEntry {
  return entry !== undefined && entry.validatorStake > 0n
}

function byPlace(a: AccountEntry, b: AccountEntry): number {
  return comparePositions(stakePosition(a), stakePosition(b))
}

/** The sort key of a staking account. */
export function stakePosition(entry: StakePlace) {
  return [poolStakeOf(entry), entry.accountId] as const
}

type StakePlace = Pick<AccountEntry, 'accountId' | 'validatorStake' | 'delegationStake'>
