import { once } from 'node:events'
import { globSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

const source = new URL('../../src/', import.meta.url)
const entries = globSync('**/*worker.ts', { cwd: source })

test('the threads are known', () => expect(entries.length).toBeGreaterThan(4))

/**
 * V8 13.6 (Node 24) ends the process with `Check failed: (location_) != nullptr` if a thread is terminated while it executes a module
 * that imports one with a top-level `await`. A gateway may be closed while its threads start. `require` rejects such modules before it
 * executes one.
 */
test.each(entries)('no module of this thread has a top-level await: %s', async (entry) => {
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads')
    let outcome = 'loaded'
    try { require(workerData.file) } catch ({ code, message }) { outcome = code ?? message }
    parentPort.postMessage({ outcome })`,
    { eval: true, execArgv: [], workerData: { file: new URL(entry, source).pathname } },
  )
  const [{ outcome }] = await once(worker, 'message')
  await worker.terminate()
  expect(outcome).toBe('loaded')
})
