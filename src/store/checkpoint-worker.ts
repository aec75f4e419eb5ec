import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { present } from '../lib/assert.ts'
import { moveLog } from './sql/sqlite/pragmas.ts'

/** The thread behind `checkpoints.ts`. */

const database = new Sqlite(String(workerData), { fileMustExist: true })
const port = present(parentPort, 'the port of a worker thread')

port.on('message', () => {
  // What is committed meanwhile is left over, each time less of it: the log begins anew only once nothing is.
  for (let n = 0; n < mostRounds && !moveLog(database); n++);
})

const mostRounds = 5
