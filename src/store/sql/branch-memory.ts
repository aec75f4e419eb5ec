import type { Hex } from '../../lib/hex.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { LogTip } from '../rows.ts'
import { branchOf, noBranch } from '../values.ts'

/**
 * Branches of milestones that were read before. A commitment covers all before it: as long as one slot has the branch that it had, all
 * slots up to it do. A read that uses them reads that one slot again, as of the moment of its rows.
 */
export interface BranchMemory {
  known(): KnownBranches
  /** What is known of the history that a read found: nothing where it gave the slot another branch. */
  settle(
    known: KnownBranches,
    found: Hex,
    tip: Pick<LogTip, 'slot' | 'commitmentId'>,
  ): KnownBranches
}

/** Branches by slot, of one history. */
export interface KnownBranches {
  /** The slot that is read again, at or behind all those that are known, and the branch that it had. */
  readonly slot: SlotIndex
  readonly branch: Hex
  readonly bySlot: Map<SlotIndex, Hex>
}

/** Nothing is known yet. No database has the slot that is read again, and it has no branch. */
export function createBranchMemory(): BranchMemory {
  let current: KnownBranches = { slot: -1, branch: noBranch, bySlot: new Map() }

  return {
    known: () => current,
    settle: (known, found, { slot, commitmentId }) => {
      const isSame = found === known.branch
      const bySlot = isSame ? known.bySlot : new Map<SlotIndex, Hex>()
      const settled = { slot, branch: branchOf(commitmentId), bySlot }
      bySlot.set(slot, settled.branch)
      // Others may have been faster.
      const isNews = isSame ? current.bySlot === bySlot && current.slot < slot : current === known
      // What is full is left to those who are using it.
      if (isNews) current = bySlot.size < mostKnown ? settled : { ...settled, bySlot: new Map() }
      return settled
    },
  }
}

/** Some 60 bytes each: those of two days. */
const mostKnown = 16_384
