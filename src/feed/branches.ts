import { LRUCache } from 'lru-cache'
import { present } from '../lib/assert.ts'
import type { Hex } from '../lib/hex.ts'
import type { LogWindow } from './log-window.ts'
import type { LogReader } from './read.ts'
import type { TipFollower } from './tip-follower.ts'

/** The branches that the history of the tip has at positions of the log. */

export interface BranchesDeps {
  readonly reader: Pick<LogReader, 'branchesAt'>
  readonly window: Pick<LogWindow, 'tip' | 'ring'>
  readonly follower: Pick<TipFollower, 'refresh'>
}

export interface Branches {
  /** The branch at a position; at most one read, and none for recent positions. */
  at(seq: number): Promise<Hex>
  /** Removes everything, because the log is another one. */
  clear(): void
}

export function createBranches({ reader, window, follower }: BranchesDeps): Branches {
  const known = new LRUCache<number, Hex>({ max: keptBranches })

  async function at(seq: number): Promise<Hex> {
    const tip = window.tip()
    if (seq === tip.seq) return tip.branch
    const kept = window.ring.at(seq)?.branch ?? known.get(seq)
    if (kept !== undefined) return kept
    const [branch, branchOfTip] = await reader.branchesAt([seq, tip.seq])
    if (branchOfTip === tip.branch && window.tip().era === tip.era) {
      const found = present(branch, 'a branch')
      // A position beyond the end of the log gets its branch later.
      if (seq < tip.seq) known.set(seq, found)
      return found
    }
    // The answer belongs to another history, which the next read of the tip finds.
    await follower.refresh()
    return await at(seq)
  }

  return { at, clear: () => known.clear() }
}

/** Branches of positions below the ring, some 100 bytes each. */
const keptBranches = 10_000
