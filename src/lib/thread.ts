import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/**
 * Starts the module `name` beside `base` on a thread of its own. The built program runs what was built; a source tree
 * runs the source, and lets tsx read its types.
 */
export function startThread(base: string, name: string, workerData?: unknown): Worker {
  const extension = extname(base)
  const url = new URL(`./${name}${extension}`, base)
  if (extension === '.js') return new Worker(url, { workerData })
  // The package's own entry registers nothing outside the main thread, so its function is called.
  const tsx = import.meta.resolve('tsx/esm/api')
  const register = `data:text/javascript,import { register } from '${tsx}'; register()`
  return new Worker(url, { workerData, execArgv: ['--import', register] })
}
