import type { Hex } from '../../lib/hex.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { LogTip } from '../rows.ts'
import { branchOf, noBranch } from '../values.ts'

/**
 * Cache of the branches of milestones. A commitment covers all earlier commitments: while one slot has an unchanged branch, all slots up
 * to it have. A read that uses the cache verifies it by reading the branch of that one slot in the snapshot of its rows.
 */
export interface BranchMemory {
  known(): KnownBranches
  /**
   * Returns the cached branches with the branch of the tip of a read. If the read found another branch (`found`) for the verified slot, the
   * history has changed, and the result contains only the branch of the tip.
   */
  settle(
    known: KnownBranches,
    found: Hex,
    tip: Pick<LogTip, 'slot' | 'commitmentId'>,
  ): KnownBranches
}

/** Branches of one history, by slot. */
export interface KnownBranches {
  /** Slot whose branch verifies the cached branches up to it. Other reads may add newer slots to the same map. */
  readonly slot: SlotIndex
  /** Branch that `slot` had when it was read. */
  readonly branch: Hex
  readonly bySlot: Map<SlotIndex, Hex>
}

/** Creates an empty cache. Its verified slot is -1, which no database has, with the branch of no milestone. */
export function createBranchMemory(): BranchMemory {
  let current: KnownBranches = { slot: -1, branch: noBranch, bySlot: new Map() }

  return {
    known: () => current,
    settle: (known, found, { slot, commitmentId }) => {
      const isSame = found === known.branch
      const bySlot = isSame ? known.bySlot : new Map<SlotIndex, Hex>()
      const settled = { slot, branch: branchOf(commitmentId), bySlot }
      bySlot.set(slot, settled.branch)
      // A concurrent read may have settled a newer slot already.
      const isNewer = isSame ? current.bySlot === bySlot && current.slot < slot : current === known
      // A full map is replaced, not cleared: concurrent reads still use it.
      if (isNewer) current = bySlot.size < maxBranches ? settled : { ...settled, bySlot: new Map() }
      return settled
    },
  }
}

/** Branches in a full cache: two days of slots, about 60 bytes each. */
const maxBranches = 16_384
