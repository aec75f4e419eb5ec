import type { AccountEntry } from '../../ledger/accounts.ts'
import { passTurn } from '../../lib/turns.ts'
import type { AccountId, CommitmentId, SlotIndex } from '../../protocol/primitives.ts'
import type { StoreReader } from '../../store/contract.ts'

/** All accounts that stake. */
export interface Stakers {
  /** As of the end of a committed slot, in no order. */
  at(slot: SlotIndex): Promise<readonly AccountEntry[]>
}

type Read = Pick<StoreReader, 'accountsAt' | 'accountVersionsAfter' | 'milestone'>

/** The accounts that stake at the end of a slot. */
interface Stakes {
  readonly commitmentId: CommitmentId | undefined
  readonly byId: ReadonlyMap<AccountId, AccountEntry>
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
      return [...(await reading).byId.values()]
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
  const since = former && (await stakesBefore(read, slot, former))
  if (former === undefined || since === undefined) {
    return { commitmentId, byId: await stakersAmongAll(read, slot) }
  }
  const versions = await read.accountVersionsAfter(former.slot)
  const changes = versions.filter((version) => version.slot <= slot)
  if (changes.length === 0) return { commitmentId, byId: since.byId }
  const byId = new Map(since.byId)
  for (const { accountId, entry } of changes) {
    if (entry !== undefined && entry.validatorStake > 0n) byId.set(accountId, entry)
    else byId.delete(accountId)
  }
  return { commitmentId, byId }
}

/** A ledger may have a million accounts: others have their turns between the pages. */
async function stakersAmongAll(
  read: Pick<Read, 'accountsAt'>,
  slot: SlotIndex,
): Promise<Stakes['byId']> {
  const byId = new Map<AccountId, AccountEntry>()
  for (let after: AccountId | undefined; ; ) {
    await passTurn()
    const page = await read.accountsAt(slot, after)
    if (page === undefined) return byId
    for (const { accountId, entry } of page.accounts) {
      if (entry.validatorStake > 0n) byId.set(accountId, entry)
    }
    after = page.last
  }
}

/** Where it can be read on: not for long, and only while the database has not been replaced by an older copy. */
async function stakesBefore(
  read: Read,
  slot: SlotIndex,
  former: Known,
): Promise<Stakes | undefined> {
  if (slot - former.slot > mostSlots) return undefined
  const stakes = await former.stakes
  const kept = await read.milestone(former.slot)
  return kept !== undefined && kept.commitmentId === stakes.commitmentId ? stakes : undefined
}

/** An account has a version for each slot that changed it: those of a day are more than all accounts. */
const mostSlots = 100
