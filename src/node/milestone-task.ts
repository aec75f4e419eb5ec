import { setTimeout as delay } from 'node:timers/promises'
import type { Tail } from '../feed/tail.ts'
import type { Log } from '../lib/log.ts'
import { createFailureLog } from '../store/failure-log.ts'

/** Work that is done piece by piece after milestones, for blocks and slots wait for the same writer. */

/** What the work is. */
export interface MilestoneTaskOptions {
  readonly tail: Pick<Tail, 'watchTip'>
  readonly log: Pick<Log, 'error'>
  /** The name of a failure in the log. */
  readonly failed: string
  /** Whether this process may do the work now. */
  mayRun(): boolean
  /** Does a piece; gives whether another one follows at once. */
  runPiece(): Promise<boolean>
}

/** Running work. */
export interface MilestoneTask {
  close(): Promise<void>
}

/** Does the work after each milestone, never twice at a time. After a failure the next milestone starts it again. */
export function startMilestoneTask(options: MilestoneTaskOptions): MilestoneTask {
  const { tail, log, failed, mayRun, runPiece } = options
  const logFailure = createFailureLog(log)
  let running: Promise<void> | undefined
  let isClosed = false
  const stopWatching = tail.watchTip(() => {
    if (!mayRun()) return
    running ??= run()
      .catch((failure) => logFailure(failed, failure))
      .finally(() => {
        running = undefined
      })
  })

  async function run(): Promise<void> {
    while (!isClosed && mayRun() && (await runPiece())) await delay(pauseMs)
  }

  async function close(): Promise<void> {
    isClosed = true
    stopWatching()
    await running
  }

  return { close }
}

/** The rows of a piece. */
export const rowsAtOnce = 2_000

const pauseMs = 50
