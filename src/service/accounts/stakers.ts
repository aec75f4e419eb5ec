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

interface Known {
  readonly slot: SlotIndex
  readonly stakes: Promise<Stakes>
}

/** Reads all accounts once, page by page, for there is no index of those that stake; and then what each slot changed. */
export function createStakers(read: Read): Stakers {
  let known: Known | undefined

  async function at(slot: SlotIndex): Promise<readonly AccountEntry[]> {
    const reading = known?.slot === slot ? known : { slot, stakes: stakesAt(read, slot, known) }
    // A query that reads as of an earlier slot leaves the newest to all others.
    if (known === undefined || slot > known.slot) known = reading
    try {
      return [...(await reading.stakes).byId.values()]
    } catch (failure) {
      // The next call tries again, also while no further slot is committed.
      if (known === reading) known = undefined
      throw failure
    }
  }

  return { at }
}

async function stakesAt(read: Read, slot: SlotIndex, former: Known | undefined): Promise<Stakes> {
  const commitmentId = (await read.milestone(slot))?.commitmentId
  const since = former && (await stakesBefore(read, slot, former))
  if (former === undefined || since === undefined) {
    return { commitmentId, byId: await stakersAmongAll(read, slot) }
  }
  const byId = new Map(since.byId)
  for (const { accountId, entry, ...version } of await read.accountVersionsAfter(former.slot)) {
    if (version.slot > slot) continue
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
    for (const { accountId, entry } of page) {
      if (entry.validatorStake > 0n) byId.set(accountId, entry)
    }
    after = page.at(-1)?.accountId
    if (after === undefined) return byId
  }
}

/** Where it can be read on: not for long, and only while the database has not been replaced by an older copy. */
async function stakesBefore(
  read: Read,
  slot: SlotIndex,
  former: Known,
): Promise<Stakes | undefined> {
  if (former.slot > slot || slot - former.slot > mostSlots) return undefined
  const stakes = await former.stakes
  const kept = await read.milestone(former.slot)
  return kept !== undefined && kept.commitmentId === stakes.commitmentId ? stakes : undefined
}

/** An account has a version for each slot that changed it: those of a day are more than all accounts. */
const mostSlots = 100
