import type { Log } from '../lib/log.ts'
import type { StoreWriter } from '../store/contract.ts'
import {
  type MilestoneTask,
  type MilestoneTaskOptions,
  rowsAtOnce,
  startMilestoneTask,
} from './milestone-task.ts'

/** Counts the activity of slots that were committed before a program counted it. */

/** What counting needs. */
export interface ActivityFillerDeps extends Pick<MilestoneTaskOptions, 'tail'> {
  readonly write: Pick<StoreWriter, 'fillActivity'>
  readonly log: Pick<Log, 'info' | 'error'>
  /** The term of this process; `undefined` while another one writes the log. */
  readonly term: () => number | undefined
}

/** Counts until all slots are counted; this process may become the writer at any milestone. */
export function startActivityFiller({ write, tail, log, term }: ActivityFillerDeps): MilestoneTask {
  let isOver = false
  let slots = 0

  async function runPiece(): Promise<boolean> {
    const own = term()
    if (own === undefined) return false
    const piece = await write.fillActivity(own, { rows: rowsAtOnce })
    if (!piece.ok) return false
    slots += piece.value.slots
    isOver = piece.value.isDone
    if (isOver && slots > 0) log.info('activity-filled', { slots })
    return !isOver
  }

  const mayRun = () => !isOver && term() !== undefined
  return startMilestoneTask({ tail, log, failed: 'activity-filling-failed', mayRun, runPiece })
}
