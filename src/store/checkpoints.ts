import { statSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { startThread } from '../lib/thread.ts'

/**
 * Moves what was committed to SQLite from its write-ahead log into the database file, on a thread of its own: within a
 * commit, where SQLite would do it, a slot takes twice as long. What is not moved yet is as durable as what is.
 */

/** The thread, and the clock behind it. */
export interface Checkpoints {
  close(): Promise<void>
}

/** Looks every second whether the log of this file is long enough to be worth it; before that there is no thread. */
export function keepCheckpoints(file: string): Checkpoints {
  let worker: Worker | undefined
  let movedMs = 0

  function look(): void {
    const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
    if (log === undefined || log.size < worthMoving || log.mtimeMs === movedMs) return
    movedMs = log.mtimeMs
    worker ??= start()
    worker.postMessage('MOVE')
  }

  function start(): Worker {
    const started = startThread(import.meta.url, 'checkpoint-worker', file)
    // A thread that fails leaves the moving to the commits, which begin at a longer log, and to the next thread.
    started.on('error', () => {})
    started.on('exit', () => {
      worker = undefined
    })
    // It keeps nobody from ending.
    started.unref()
    return started
  }

  const looking = setInterval(look, everyMs)
  looking.unref()

  return {
    close: async () => {
      clearInterval(looking)
      await worker?.terminate()
    },
  }
}

const everyMs = 1_000

/** Bytes: what SQLite itself waits for, a thousand pages. */
const worthMoving = 4_000_000
