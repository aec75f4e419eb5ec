import type { AccountEntry } from '../../ledger/accounts.ts'
import type { AccountId, SlotIndex } from '../../protocol/primitives.ts'
import type { StoreReader } from '../../store/contract.ts'
import type { Milestone } from '../../store/rows.ts'

/** All accounts that stake. */
export interface Stakers {
  /** As of the newest committed slot, in no order. */
  all(): Promise<readonly AccountEntry[]>
}

type Read = Pick<
  StoreReader,
  'accountVersions' | 'accountVersionsAfter' | 'latestMilestone' | 'milestone'
>

type StakersById = ReadonlyMap<AccountId, AccountEntry>

/** The accounts that stake at the end of a slot. */
interface Known extends Pick<Milestone, 'slot' | 'commitmentId'> {
  readonly stakers: Promise<StakersById>
}

/** Reads all accounts once, for there is no index of those that stake; and then what each slot changed. */
export function createStakers(read: Read): Stakers {
  let known: Known | undefined

  async function all(): Promise<readonly AccountEntry[]> {
    const newest = await read.latestMilestone()
    if (known?.slot === newest.slot) return [...(await known.stakers).values()]
    const { slot, commitmentId } = newest
    const reading = { slot, commitmentId, stakers: stakersAt(read, slot, known) }
    known = reading
    try {
      return [...(await reading.stakers).values()]
    } catch (failure) {
      // The next call tries again, also while no further slot is committed.
      if (known === reading) known = undefined
      throw failure
    }
  }

  return { all }
}

async function stakersAt(
  read: Read,
  slot: SlotIndex,
  former: Known | undefined,
): Promise<StakersById> {
  const since = former && (await goesOn(read, slot, former)) ? former : undefined
  const stakers = new Map(await since?.stakers)
  const versions = since
    ? await read.accountVersionsAfter(since.slot)
    : await read.accountVersions(slot)
  for (const { accountId, entry, ...version } of versions) {
    if (version.slot > slot) continue
    if (entry !== undefined && entry.validatorStake > 0n) stakers.set(accountId, entry)
    else stakers.delete(accountId)
  }
  return stakers
}

/** Whether to read on: not for long, and only while its database has not been replaced by an older copy. */
async function goesOn(read: Read, slot: SlotIndex, former: Known): Promise<boolean> {
  if (former.slot > slot || slot - former.slot > mostSlots) return false
  return (await read.milestone(former.slot))?.commitmentId === former.commitmentId
}

/** An account has a version for each slot that changed it: those of a day are more than all accounts. */
const mostSlots = 100
