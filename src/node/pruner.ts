import type { ProtocolParameters } from '../protocol/parameters.ts'
import type { SlotIndex } from '../protocol/primitives.ts'
import { epochOfSlot, firstSlotOfEpoch } from '../protocol/slots.ts'
import type { StoreWriter } from '../store/contract.ts'
import {
  type MilestoneTask,
  type MilestoneTaskDeps,
  rowsAtOnce,
  startMilestoneTask,
} from './milestone-task.ts'

/** Deletes what is old as new milestones are committed: the oldest part of the log, and blocks that carry nothing. */

/** What pruning needs. */
export interface PrunerDeps extends MilestoneTaskDeps {
  readonly write: Pick<StoreWriter, 'pruneLog' | 'pruneBlocks'>
  /** Whether this process writes the ledger: two pruners would wait for each other. */
  readonly isWriting: () => boolean
}

/** Keeps the newest `milestones`. */
export function startPruner(
  { write, tail, log, isWriting }: PrunerDeps,
  milestones: number,
): MilestoneTask {
  let pieces = 0

  async function runPiece(): Promise<boolean> {
    const { prunedSeq, isDone } = await write.pruneLog({ milestones, rows: rowsAtOnce })
    pieces++
    if (isDone && pieces > 1) log.info('log-pruned', { prunedSeq })
    if (isDone) pieces = 0
    return !isDone
  }

  return startMilestoneTask({ tail, log, failed: 'pruning-failed', mayRun: isWriting, runPiece })
}

/** What of the blocks that carry nothing is kept. */
export interface BlockRetention {
  /** Of how many slots. */
  readonly slots: number
  /** The milestone that is committed now. */
  readonly tip: () => SlotIndex
  readonly parameters: ProtocolParameters
}

/** Keeps blocks that carry nothing for some slots, and at least for as long as new blocks may refer to them. */
export function startBlockPruner(
  { write, tail, log, isWriting }: PrunerDeps,
  { slots, tip, parameters }: BlockRetention,
): MilestoneTask {
  const kept = Math.max(slots, 2 * parameters.maxCommittableAge)
  let pruned = 0

  async function runPiece(): Promise<boolean> {
    // The votes of an epoch are counted when it is over.
    const lastEpoch = Math.max(0, epochOfSlot(parameters, tip()) - 1)
    const votesBefore = firstSlotOfEpoch(parameters, lastEpoch)
    const piece = await write.pruneBlocks({ slots: kept, votesBefore, rows: blocksAtOnce })
    pruned += piece.pruned
    if (!piece.isDone) return true
    if (pruned > 0) log.info('blocks-pruned', { blocks: pruned })
    pruned = 0
    return false
  }

  const failed = 'block-pruning-failed'
  return startMilestoneTask({ tail, log, failed, mayRun: isWriting, runPiece })
}

/** They are decoded, and blocks that arrive wait meanwhile. */
const blocksAtOnce = 200
