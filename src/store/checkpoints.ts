import { statSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import type { Log } from '../lib/log.ts'
import { createOutage } from '../lib/outage.ts'
import { startThread } from '../lib/thread.ts'
import type { Moved } from './checkpoint-worker.ts'
import { reasonOf } from './unusable.ts'

/**
 * Moves what was committed to SQLite from its write-ahead log into the database file, on a thread of its own: within a
 * commit, where SQLite would do it, a slot takes twice as long. What is not moved yet is as durable as what is.
 */

/** The thread, and the clock behind it. */
export interface Checkpoints {
  close(): Promise<void>
}

/**
 * Looks every second whether the log of this file is long enough to be worth it; before that there is no thread. What
 * keeps it from being moved is said when it begins and when it is over: the commits move it meanwhile, at a longer log.
 */
export function keepCheckpoints(file: string, log: Pick<Log, 'info' | 'warn'>): Checkpoints {
  const trouble = createOutage(log, { began: 'checkpoints-failing', over: 'checkpoints-back' })
  let worker: Worker | undefined
  let movedMs = 0
  let isClosing = false

  function look(): void {
    try {
      const found = statSync(`${file}-wal`, { throwIfNoEntry: false })
      if (found === undefined || found.size < worthMoving || found.mtimeMs === movedMs) return
      movedMs = found.mtimeMs
      worker ??= start()
      worker.postMessage('MOVE')
    } catch (failure) {
      // No right to the folder any more, or no room for a thread: an exception on a timer would end the process.
      trouble.failed(reasonOf(failure))
    }
  }

  function start(): Worker {
    const started = startThread(import.meta.url, 'checkpoint-worker', file)
    started.on('message', (moved: Moved) =>
      moved.ok ? trouble.recovered() : trouble.failed(moved.reason),
    )
    started.on('error', (failure) => trouble.failed(reasonOf(failure)))
    // The next look begins another.
    started.on('exit', () => {
      worker = undefined
      if (!isClosing) trouble.failed('the thread ended')
    })
    // It does not keep the process running.
    started.unref()
    return started
  }

  const looking = setInterval(look, everyMs)
  looking.unref()

  return {
    close: async () => {
      isClosing = true
      clearInterval(looking)
      await worker?.terminate()
    },
  }
}

const everyMs = 1_000

/** Bytes: what SQLite itself waits for, a thousand pages. */
const worthMoving = 4_000_000
