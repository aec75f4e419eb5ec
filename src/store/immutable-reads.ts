import { LRUCache } from 'lru-cache'
import type { AccountEntry } from '../ledger/accounts.ts'
import type { BlockId, CommitmentId, SlotIndex } from '../protocol/primitives.ts'
import type { StoreReader } from './contract.ts'
import type { Milestone } from './rows.ts'

/**
 * A cache of reads whose results never change once they exist. Every submitted block reads its commitment, its issuer at that commitment
 * and its parents, and most blocks read the same rows. A missing milestone or block is read again.
 */

type ImmutableReads = Pick<StoreReader, 'milestoneByCommitment' | 'accountEntry' | 'issuingTimes'>

/** Wraps reads so that their newest results are cached. */
export function cacheImmutableReads(
  read: ImmutableReads,
): ImmutableReads & Pick<StoreReader, 'forget'> {
  const milestones = new LRUCache<CommitmentId, Milestone>({ max: capacity })
  const entries = new LRUCache<string, AccountEntry | 'NONE'>({ max: capacity })
  const times = new LRUCache<BlockId, bigint>({ max: capacity })
  /** Newest slot among the commitments that were read. Up to this slot, account entries are immutable. */
  let committed: SlotIndex = -1

  async function milestoneByCommitment(id: CommitmentId): Promise<Milestone | undefined> {
    const known = milestones.get(id)
    if (known !== undefined) return known
    const milestone = await read.milestoneByCommitment(id)
    if (milestone === undefined) return undefined
    committed = Math.max(committed, milestone.slot)
    milestones.set(id, milestone)
    return milestone
  }

  async function accountEntry(
    ...[accountId, slot]: Parameters<StoreReader['accountEntry']>
  ): Promise<AccountEntry | undefined> {
    // `committed` is compared before the read, because a slot that is committed during the read may be read in part.
    if (slot === undefined || slot > committed) return read.accountEntry(accountId, slot)
    const key = `${accountId} ${slot}`
    const known = entries.get(key) ?? (await read.accountEntry(accountId, slot)) ?? 'NONE'
    entries.set(key, known)
    return known === 'NONE' ? undefined : known
  }

  async function issuingTimes(ids: readonly BlockId[]): Promise<ReadonlyMap<BlockId, bigint>> {
    const missing = ids.filter((id) => times.get(id) === undefined)
    const found = missing.length === 0 ? [] : await read.issuingTimes(missing)
    for (const [id, time] of found) times.set(id, time)
    const known = ids.flatMap((id) => {
      const time = times.get(id)
      return time === undefined ? [] : [[id, time] as const]
    })
    return new Map([...known, ...found])
  }

  function forget(): void {
    milestones.clear()
    entries.clear()
    times.clear()
    committed = -1
  }

  return { milestoneByCommitment, accountEntry, issuingTimes, forget }
}

/** Cached results per read. Results of blocks have some hundred bytes, and those of accounts at most some kilobytes. */
const capacity = 2_000
