import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/**
 * Starts the module `name` beside `base` on a thread of its own, as `base` itself runs: built, or from the source. Node's flags of this
 * process are not the thread's: `--input-type` of a program given by `--eval` refuses modules in files.
 */
export function startThread(base: string, name: string, workerData?: unknown): Worker {
  return new Worker(new URL(`./${name}${extname(base)}`, base), { workerData, execArgv: [] })
}
