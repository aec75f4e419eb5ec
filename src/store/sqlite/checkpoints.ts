import { statSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import type { Log } from '../../lib/log.ts'
import { createOutage } from '../../lib/outage.ts'
import { startThread } from '../../lib/thread.ts'
import { reasonOf } from '../unusable.ts'
import type { Moved } from './checkpoint-worker.ts'

/**
 * Checkpoints of SQLite: moves committed pages from the write-ahead log into the database file, on a separate thread. SQLite itself would
 * do this within a commit, which doubles the time of a slot. Pages in the write-ahead log are as durable as pages in the file.
 */

/** The thread, and the timer that starts it. */
export interface Checkpoints {
  close(): Promise<void>
}

/**
 * Checks every second whether the write-ahead log of a file is long enough for a checkpoint. The first checkpoint starts the thread. Logs
 * the beginning and the end of a failure of checkpoints. Meanwhile the commits move the pages themselves, at a longer log.
 */
export function keepCheckpoints(file: string, log: Pick<Log, 'info' | 'warn'>): Checkpoints {
  const outage = createOutage(log, { began: 'checkpoints-failing', over: 'checkpoints-back' })
  let worker: Worker | undefined
  let movedMs = 0
  let isClosing = false

  function check(): void {
    try {
      const found = statSync(`${file}-wal`, { throwIfNoEntry: false })
      if (found === undefined || found.size < minLogBytes || found.mtimeMs === movedMs) return
      movedMs = found.mtimeMs
      worker ??= start()
      worker.postMessage('MOVE')
    } catch (failure) {
      // The process lost its access to the folder, or has no memory for a thread. An exception in a timer would end the process.
      outage.failed(reasonOf(failure))
    }
  }

  function start(): Worker {
    const started = startThread(import.meta.url, 'checkpoint-worker', file)
    started.on('message', (moved: Moved) =>
      moved.ok ? outage.recovered() : outage.failed(moved.reason),
    )
    started.on('error', (failure) => outage.failed(reasonOf(failure)))
    // The next check starts another thread.
    started.on('exit', () => {
      worker = undefined
      if (!isClosing) outage.failed('the thread ended')
    })
    // The thread does not keep the process running.
    started.unref()
    return started
  }

  const timer = setInterval(check, everyMs)
  timer.unref()

  return {
    close: async () => {
      isClosing = true
      clearInterval(timer)
      await worker?.terminate()
    },
  }
}

const everyMs = 1_000

/** Log size in bytes at which a checkpoint starts: a thousand pages, as in SQLite's own setting. */
const minLogBytes = 4_000_000
