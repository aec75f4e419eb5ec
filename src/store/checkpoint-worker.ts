import type { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { present } from '../lib/assert.ts'
import { openFile } from './sql/sqlite/file.ts'
import { moveLog } from './sql/sqlite/pragmas.ts'
import { reasonOf } from './unusable.ts'

/** The thread of `checkpoints.ts`. */

/** What the thread answers; a failure goes in words, for an error of the driver is not one any more on another thread. */
export type Moved = { readonly ok: true } | { readonly ok: false; readonly reason: string }

const port = present(parentPort, 'the port of a worker thread')
let database: DatabaseSync | undefined

port.on('message', () => port.postMessage(move()))

function move(): Moved {
  try {
    database ??= openFile(String(workerData), 'WRITE_EXISTING')
    // What is committed meanwhile is left over, each time less of it: the log restarts only once nothing is.
    let left = moveLog(database)
    for (let n = 1; n < mostRounds && left > 0; n++) left = moveLog(database)
    return left < mostPagesLeft ? { ok: true } : { ok: false, reason: isHeld }
  } catch (failure) {
    // The next attempt reads the file again.
    database?.close()
    database = undefined
    return { ok: false, reason: reasonOf(failure) }
  }
}

const mostRounds = 5

/** 128 MiB: twice what the commits move by themselves. */
const mostPagesLeft = 32_768

const isHeld = 'a reader has kept the file open for so long that its log has grown to 128 MiB'
