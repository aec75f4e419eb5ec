import { LRUCache } from 'lru-cache'
import { present } from '../lib/assert.ts'
import type { Hex } from '../lib/hex.ts'
import type { LogWindow } from './log-window.ts'
import type { LogReader } from './read.ts'
import type { TipFollower } from './tip-follower.ts'

/** Branches of the current history at positions of the log. */

export interface BranchesDeps {
  readonly reader: Pick<LogReader, 'branchesAt'>
  readonly window: Pick<LogWindow, 'tip' | 'ring'>
  readonly follower: Pick<TipFollower, 'refresh'>
}

export interface Branches {
  /** The branch at a position. Recent positions need no read, other positions at most one. */
  at(seq: number): Promise<Hex>
  /** Empties the cache. Called when the log was replaced. */
  clear(): void
}

export function createBranches({ reader, window, follower }: BranchesDeps): Branches {
  const known = new LRUCache<number, Hex>({ max: maxBranches })

  async function at(seq: number): Promise<Hex> {
    const tip = window.tip()
    if (seq === tip.seq) return tip.branch
    const cached = window.ring.at(seq)?.branch ?? known.get(seq)
    if (cached !== undefined) return cached
    const [branch, branchOfTip] = await reader.branchesAt([seq, tip.seq])
    if (branchOfTip === tip.branch && window.tip().era === tip.era) {
      const found = present(branch, 'a branch')
      // A position beyond the end of the log gets its branch later.
      if (seq < tip.seq) known.set(seq, found)
      return found
    }
    // The database has another history now: refresh the tip and try again.
    await follower.refresh()
    return await at(seq)
  }

  return { at, clear: () => known.clear() }
}

/** Maximum number of cached branches below the ring, about 100 bytes each. */
const maxBranches = 10_000
