import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** Starts the module `name` beside `base` on a thread of its own, as `base` itself runs: built, or from the source. */
export function startThread(base: string, name: string, workerData?: unknown): Worker {
  return new Worker(new URL(`./${name}${extname(base)}`, base), { workerData })
}
