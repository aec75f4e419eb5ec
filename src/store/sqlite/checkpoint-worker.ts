import type { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { present } from '../../lib/assert.ts'
import { lowerThreadPriority } from '../../lib/thread-priority.ts'
import { openFile } from '../sql/sqlite/file.ts'
import { moveLog } from '../sql/sqlite/pragmas.ts'
import { reasonOf } from '../unusable.ts'

/** The thread of `checkpoints.ts`. */

/** The response of the thread. A failure is sent as text, because an error of the driver loses its class on another thread. */
export type Moved = { readonly ok: true } | { readonly ok: false; readonly reason: string }

const port = present(parentPort, 'the port of a worker thread')
let database: DatabaseSync | undefined

lowerThreadPriority('half')
port.on('message', () => port.postMessage(move()))

function move(): Moved {
  try {
    database ??= openFile(String(workerData), 'WRITE_EXISTING')
    // Each round leaves the pages that were committed meanwhile, fewer each time. The log restarts only when no page is left.
    let left = moveLog(database)
    for (let n = 1; n < maxRounds && left > 0; n++) left = moveLog(database)
    return left < maxPagesLeft ? { ok: true } : { ok: false, reason: isHeld }
  } catch (failure) {
    // The next attempt opens the file again.
    database?.close()
    database = undefined
    return { ok: false, reason: reasonOf(failure) }
  }
}

const maxRounds = 5

/** 128 MiB, which is twice the log size at which commits move pages themselves. */
const maxPagesLeft = 32_768

const isHeld =
  'a reader has kept the file open for so long that its write-ahead log has grown to 128 MiB'
