import type { StoreWriter } from '../store/contract.ts'
import { type MilestoneTask, type MilestoneTaskDeps, startMilestoneTask } from './milestone-task.ts'

/** Creates the next partition of a partitioned log ahead of time, because attaching one may wait for an operator's `VACUUM`. */

export interface PartitionCreatorDeps extends MilestoneTaskDeps {
  readonly write: Pick<StoreWriter, 'extendLog'>
  /** Whether this process writes the ledger. */
  readonly isWriting: () => boolean
}

/** Checks after each milestone. A slot that reaches the end of the last partition creates the next partition itself. */
export function startPartitionCreator({
  write,
  tail,
  log,
  isWriting,
}: PartitionCreatorDeps): MilestoneTask {
  async function runBatch(): Promise<boolean> {
    await write.extendLog()
    return false
  }

  return startMilestoneTask({ tail, log, failed: 'log-not-extended', mayRun: isWriting, runBatch })
}
