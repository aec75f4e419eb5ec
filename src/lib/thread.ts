import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/**
 * Starts the module `name` in the folder of `base` on a new thread. Its file extension is that of `base`, so it runs from the build or
 * from the source as `base` does. The thread does not inherit Node's flags, because `--input-type` of a program that was started with
 * `--eval` rejects modules in files.
 *
 * No module that a thread loads may have a top-level `await`: V8 13.6 (Node 24) ends the process with `Check failed: (location_) != nullptr`
 * if a thread is terminated while it executes a module that imports one, and a gateway may be closed while its threads start.
 */
export function startThread(base: string, name: string, workerData?: unknown): Worker {
  return new Worker(new URL(`./${name}${extname(base)}`, base), { workerData, execArgv: [] })
}
