import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { SlotIndex } from '../protocol/primitives.ts'
import { epochOfSlot, firstSlotOfEpoch } from '../protocol/slots.ts'
import type { StoreWriter } from '../store/contract.ts'
import { minRetainedSlots } from '../store/write/prune-blocks.ts'
import {
  type MilestoneTask,
  type MilestoneTaskDeps,
  rowsPerBatch,
  startMilestoneTask,
} from './milestone-task.ts'

/**
 * Deletes old rows as new milestones are committed: the oldest part of the log, and empty blocks. An empty block has no transaction
 * and no uncounted vote.
 */

export interface PrunerDeps extends MilestoneTaskDeps {
  readonly write: Pick<StoreWriter, 'pruneLog' | 'pruneBlocks'>
  /** Whether this process writes the ledger. Only the writer prunes: two pruners would wait for each other. */
  readonly isWriting: () => boolean
}

/** Prunes the log to the newest `milestones` milestones. */
export function startPruner(
  { write, tail, log, isWriting }: PrunerDeps,
  milestones: number,
): MilestoneTask {
  let pieces = 0

  async function runBatch(): Promise<boolean> {
    const { prunedSeq, isDone } = await write.pruneLog({ milestones, rows: rowsPerBatch })
    pieces++
    if (isDone && pieces > 1) log.info('log-pruned', { prunedSeq })
    if (isDone) pieces = 0
    return !isDone
  }

  return startMilestoneTask({ tail, log, failed: 'pruning-failed', mayRun: isWriting, runBatch })
}

export interface BlockRetention {
  /** Number of slots whose blocks are kept. */
  readonly slots: number
  /** The newest committed milestone. */
  readonly tip: () => SlotIndex
  readonly parameters: ProtocolParameters
}

/** Prunes empty blocks after some slots, but not while new blocks may refer to them. */
export function startBlockPruner(
  { write, tail, log, isWriting }: PrunerDeps,
  { slots, tip, parameters }: BlockRetention,
): MilestoneTask {
  const kept = Math.max(slots, minRetainedSlots(parameters))
  let pruned = 0

  async function runBatch(): Promise<boolean> {
    // The votes of an epoch are counted when the epoch ends.
    const lastEpoch = Math.max(0, epochOfSlot(parameters, tip()) - 1)
    const votesBefore = firstSlotOfEpoch(parameters, lastEpoch)
    const batch = await write.pruneBlocks({ slots: kept, votesBefore, rows: blocksPerBatch })
    pruned += batch.pruned
    if (!batch.isDone) return true
    if (pruned > 0) log.info('blocks-pruned', { blocks: pruned })
    pruned = 0
    return false
  }

  const failed = 'block-pruning-failed'
  return startMilestoneTask({ tail, log, failed, mayRun: isWriting, runBatch })
}

/** Number of blocks in a batch. Each block is decoded, and arriving blocks wait meanwhile. */
const blocksPerBatch = 200
