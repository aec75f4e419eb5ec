import type { Log } from '../lib/log.ts'
import type { StoreWriter } from '../store/contract.ts'
import {
  type MilestoneTask,
  type MilestoneTaskOptions,
  rowsAtOnce,
  startMilestoneTask,
} from './milestone-task.ts'

/** Deletes the oldest part of the log as new milestones are committed. */

/** What pruning needs. */
export interface PrunerDeps extends Pick<MilestoneTaskOptions, 'tail'> {
  readonly write: Pick<StoreWriter, 'pruneLog'>
  readonly log: Pick<Log, 'info' | 'error'>
  /** Whether this process writes the log: two pruners would wait for each other. */
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
