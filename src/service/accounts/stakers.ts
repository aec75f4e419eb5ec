import type { AccountEntry } from '../../ledger/accounts.ts'
import { poolStakeOf } from '../../ledger/committee.ts'
import { passTurn } from '../../lib/turns.ts'
import type { AccountId, CommitmentId, SlotIndex } from '../../protocol/primitives.ts'
import type { StoreReader } from '../../store/contract.ts'
import { rowsPerTurn } from '../../store/list-contract.ts'
import { comparePositions } from '../../store/positions.ts'
import type { AccountVersion, SlotSpan } from '../../store/rows.ts'

/** All accounts that stake. */
export interface Stakers {
  /** As of the end of a committed slot: the smallest pool first, of equal ones the smallest id. */
  at(slot: SlotIndex): Promise<readonly AccountEntry[]>
}

type Read = Pick<StoreReader, 'accountsAt' | 'accountVersions' | 'milestone'>

/** The accounts that stake at the end of a slot. */
interface Stakes extends Found {
  readonly commitmentId: CommitmentId | undefined
}

interface Found {
  readonly entries: readonly AccountEntry[]
  /** How many accounts there were when all were read. */
  readonly accounts: number
}

/**
 * Reads all accounts once, page by page, for there is no index of those that stake; and then what each slot changed. A query that began
 * before the newest slot was committed reads as of the slot before, so that some slots are kept.
 */
export function createStakers(read: Read): Stakers {
  const bySlot = new Map<SlotIndex, Promise<Stakes>>()

  async function at(slot: SlotIndex): Promise<readonly AccountEntry[]> {
    const reading = bySlot.get(slot) ?? begin(slot)
    try {
      return (await reading).entries
    } catch (failure) {
      // The next call tries again, also while no further slot is committed.
      if (bySlot.get(slot) === reading) bySlot.delete(slot)
      throw failure
    }
  }

  function begin(slot: SlotIndex): Promise<Stakes> {
    const reading = stakesAt(read, slot, newestBefore(slot))
    bySlot.set(slot, reading)
    const [oldest] = bySlot.keys()
    if (bySlot.size > mostKept && oldest !== undefined) bySlot.delete(oldest)
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

/** A query reads for at most ten seconds. */
const mostKept = 16

interface Known {
  readonly slot: SlotIndex
  readonly stakes: Promise<Stakes>
}

async function stakesAt(read: Read, slot: SlotIndex, former: Known | undefined): Promise<Stakes> {
  const commitmentId = (await read.milestone(slot))?.commitmentId
  const found = former && (await stakesSince(read, slot, former))
  return { commitmentId, ...(found ?? (await allStakes(read, slot))) }
}

/** Those of a former slot with what has changed; `undefined` where the database has been replaced by an older copy, or all are less to read. */
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

/** A ledger may have a million accounts: others have their turns between the pages. */
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

/** The accounts that slots changed, as the last of them left each. */
type Changes = ReadonlyMap<AccountId, AccountEntry | undefined>

/** `undefined` where more has changed than there are accounts, so that to read all of them is less. */
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
  // What is sorted already takes one comparison each.
  return [...same, ...[...changes.values()].filter(doesStake)].sort(byPlace)
}

function doesStake(entry: AccountEntry | undefined): entry is AccountEntry {
  return entry !== undefined && entry.validatorStake > 0n
}

function byPlace(a: AccountEntry, b: AccountEntry): number {
  return comparePositions(placeOfStake(a), placeOfStake(b))
}

/** Where an account is among those that stake. */
export function placeOfStake(entry: StakePlace) {
  return [poolStakeOf(entry), entry.accountId] as const
}

type StakePlace = Pick<AccountEntry, 'accountId' | 'validatorStake' | 'delegationStake'>
