import { setTimeout as delay } from 'node:timers/promises'
import type { Tail } from '../feed/tail.ts'
import type { Log } from '../lib/log.ts'
import { createFailureLog } from '../store/failure-log.ts'

/** Background work that runs in pieces after milestones, because blocks and slots wait for the same writer. */

export interface MilestoneTaskDeps {
  readonly tail: Pick<Tail, 'watchTip'>
  readonly log: Pick<Log, 'info' | 'error'>
}

interface MilestoneTaskOptions extends MilestoneTaskDeps {
  /** The log event of a failure. */
  readonly failed: string
  /** Whether this process may run the task now. */
  mayRun(): boolean
  /** Runs a batch. Resolves to true if another batch should follow immediately. */
  runBatch(): Promise<boolean>
}

export interface MilestoneTask {
  close(): Promise<void>
}

/** Runs the task after each milestone, one run at a time. After a failure the next milestone starts the task again. */
export function startMilestoneTask(options: MilestoneTaskOptions): MilestoneTask {
  const { tail, log, failed, mayRun, runBatch } = options
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
    while (!isClosed && mayRun() && (await runBatch())) await delay(pauseMs)
  }

  async function close(): Promise<void> {
    isClosed = true
    stopWatching()
    await running
  }

  return { close }
}

/** Usual number of rows in a batch. */
export const rowsPerBatch = 2_000

/** Milliseconds between two pieces. */
const pauseMs = 50
