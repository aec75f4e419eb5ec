import { setTimeout as delay } from 'node:timers/promises'
import type { Tail } from '../feed/tail.ts'
import type { Log } from '../lib/log.ts'
import type { StoreWriter } from '../store/contract.ts'
import { createFailureLog } from '../store/failure-log.ts'

/** Deletes the oldest part of the log as new milestones are committed. */

/** What pruning needs. */
export interface PrunerDeps {
  readonly write: Pick<StoreWriter, 'pruneLog'>
  readonly tail: Pick<Tail, 'watchTip'>
  readonly log: Pick<Log, 'info' | 'error'>
  /** Whether this process writes the log: two pruners would wait for each other. */
  readonly isWriting: () => boolean
}

/** A running pruner. */
export interface Pruner {
  close(): Promise<void>
}

/** Keeps the newest `milestones`. Deletes a few rows at a time, for blocks and slots wait for the same writer. */
export function startPruner(
  { write, tail, log, isWriting }: PrunerDeps,
  milestones: number,
): Pruner {
  const logFailure = createFailureLog(log)
  let pruning: Promise<void> | undefined
  let isClosed = false
  const stopWatching = tail.watchTip(() => {
    if (!isWriting()) return
    // After a failure the next milestone starts the pruning again.
    pruning ??= prune()
      .catch((failure) => logFailure('pruning-failed', failure))
      .finally(() => {
        pruning = undefined
      })
  })

  async function prune(): Promise<void> {
    for (let pieces = 1; !isClosed && isWriting(); pieces++) {
      const { prunedSeq, isDone } = await write.pruneLog({ milestones, rows: rowsAtOnce })
      if (isDone && pieces > 1) log.info('log-pruned', { prunedSeq })
      if (isDone) return
      await delay(pauseMs)
    }
  }

  async function close(): Promise<void> {
    isClosed = true
    stopWatching()
    await pruning
  }

  return { close }
}

const rowsAtOnce = 2_000

const pauseMs = 50
