import { setTimeout as delay } from 'node:timers/promises'
import type { Tail } from '../feed/tail.ts'
import type { Log } from '../lib/log.ts'
import type { StoreWriter } from '../store/contract.ts'
import { isStoreFault } from '../store/faults.ts'

/** Gives up the oldest part of the log as new milestones are committed. */

/** What giving up needs. */
export interface PrunerDeps {
  readonly write: Pick<StoreWriter, 'pruneLog'>
  readonly tail: Pick<Tail, 'watchTip'>
  readonly log: Pick<Log, 'info' | 'error'>
  /** Whether this process is the one that writes the log: one is enough, and two would wait for each other. */
  readonly isWriting: () => boolean
}

/** A pruner at work. */
export interface Pruner {
  close(): Promise<void>
}

/** Keeps so many of the newest milestones. A little at a time, for blocks and slots wait for the same writer. */
export function startPruner(
  { write, tail, log, isWriting }: PrunerDeps,
  milestones: number,
): Pruner {
  let pruning: Promise<void> | undefined
  let isClosed = false
  const stopWatching = tail.watchTip(() => {
    if (!isWriting()) return
    pruning ??= prune().finally(() => {
      pruning = undefined
    })
  })

  async function prune(): Promise<void> {
    try {
      for (let pieces = 1; !isClosed && isWriting(); pieces++) {
        const { prunedSeq, isDone } = await write.pruneLog({ milestones, rows: rowsAtOnce })
        if (isDone && pieces > 1) log.info('log-pruned', { prunedSeq })
        if (isDone) return
        await delay(pauseMs)
      }
    } catch (failure) {
      // The next milestone is another occasion.
      if (!isStoreFault(failure)) log.error('pruning-failed', { error: failure })
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
