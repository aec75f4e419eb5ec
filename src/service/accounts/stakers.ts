import type { AccountEntry } from '../../ledger/accounts.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { StoreReader } from '../../store/contract.ts'

/** All accounts that stake. */
export interface Stakers {
  /** As of the end of a committed slot, in no order. */
  at(slot: SlotIndex): Promise<readonly AccountEntry[]>
}

/** Reads all accounts once a slot at most, for there is no index of those that stake. */
export function createStakers(read: Pick<StoreReader, 'accountVersions'>): Stakers {
  let known:
    | { readonly slot: SlotIndex; readonly stakers: Promise<readonly AccountEntry[]> }
    | undefined

  async function at(slot: SlotIndex): Promise<readonly AccountEntry[]> {
    if (known?.slot === slot) return await known.stakers
    const reading = { slot, stakers: stakersAt(read, slot) }
    // A query that reads as of an earlier slot leaves the newest to all others.
    if (known === undefined || slot > known.slot) known = reading
    try {
      return await reading.stakers
    } catch (failure) {
      // The next call tries again, also while no further slot is committed.
      if (known === reading) known = undefined
      throw failure
    }
  }

  return { at }
}

async function stakersAt(
  read: Pick<StoreReader, 'accountVersions'>,
  slot: SlotIndex,
): Promise<readonly AccountEntry[]> {
  const versions = await read.accountVersions(slot)
  return versions
    .flatMap((version) => (version.slot <= slot && version.entry ? [version.entry] : []))
    .filter(({ validatorStake }) => validatorStake > 0n)
}
