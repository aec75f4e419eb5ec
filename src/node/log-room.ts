import type { StoreWriter } from '../store/contract.ts'
import { type MilestoneTask, type MilestoneTaskDeps, startMilestoneTask } from './milestone-task.ts'

/** Makes the next partition of a log that is in partitions, ahead of time: attaching one may wait for an operator's `VACUUM`. */

/** What it needs. */
export interface LogRoomDeps extends MilestoneTaskDeps {
  readonly write: Pick<StoreWriter, 'extendLog'>
  /** Whether this process writes the ledger. */
  readonly isWriting: () => boolean
}

/** Looks after each milestone. A slot that comes to the end of the last partition makes the next one itself. */
export function startLogRoom({ write, tail, log, isWriting }: LogRoomDeps): MilestoneTask {
  async function runPiece(): Promise<boolean> {
    await write.extendLog()
    return false
  }

  return startMilestoneTask({ tail, log, failed: 'log-not-extended', mayRun: isWriting, runPiece })
}
