import { LRUCache } from 'lru-cache'
import type { AccountEntry } from '../ledger/accounts.ts'
import type { BlockId, CommitmentId, SlotIndex } from '../protocol/primitives.ts'
import type { StoreReader } from './contract.ts'
import type { Milestone } from './rows.ts'

/**
 * Reads whose answers never change once they exist: every incoming block reads its commitment, its issuer as
 * of that commitment and its parents, and most read the same. What does not exist is read again.
 */

type LastingReads = Pick<StoreReader, 'milestoneByCommitment' | 'accountEntry' | 'issuingTimes'>

/** The same reads, with the newest answers kept in memory. */
export function keepAnswers(read: LastingReads): LastingReads & Pick<StoreReader, 'forget'> {
  const milestones = new LRUCache<CommitmentId, Milestone>({ max: capacity })
  const entries = new LRUCache<string, AccountEntry | 'NONE'>({ max: capacity })
  const times = new LRUCache<BlockId, bigint>({ max: capacity })
  /** Of the commitments that were read: up to here accounts do not change any more. */
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
    // Looked at before the read: a slot that is committed meanwhile may have been read half.
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

/** Answers of a kind: those of blocks are some hundred bytes, those of accounts at most some kilobytes. */
const capacity = 2_000
