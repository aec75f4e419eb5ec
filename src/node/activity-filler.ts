import type { StoreWriter } from '../store/contract.ts'
import {
  type MilestoneTask,
  type MilestoneTaskDeps,
  rowsPerBatch,
  startMilestoneTask,
} from './milestone-task.ts'

/** Counts the activity of slots that an earlier program version committed without counting. */

export interface ActivityFillerDeps extends MilestoneTaskDeps {
  readonly write: Pick<StoreWriter, 'fillActivity'>
  /** The term of this process; `undefined` while another process writes the log. */
  readonly term: () => number | undefined
}

/** Runs until all slots are counted. This process may become the writer at any milestone. */
export function startActivityFiller({ write, tail, log, term }: ActivityFillerDeps): MilestoneTask {
  let isOver = false
  let slots = 0

  async function runBatch(): Promise<boolean> {
    const own = term()
    if (own === undefined) return false
    const batch = await write.fillActivity(own, { rows: rowsPerBatch })
    if (!batch.ok) return false
    slots += batch.value.slots
    isOver = batch.value.isDone
    if (isOver && slots > 0) log.info('activity-filled', { slots })
    return !isOver
  }

  const mayRun = () => !isOver && term() !== undefined
  return startMilestoneTask({ tail, log, failed: 'activity-filling-failed', mayRun, runBatch })
}
