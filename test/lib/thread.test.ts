import { once } from 'node:events'
import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

const source = new URL('../../src/', import.meta.url)
const entries = globSync('**/*worker.ts', { cwd: source })

test('the threads are known', () => expect(entries.length).toBeGreaterThan(4))

/** `require` rejects modules with a top-level `await`, or whose imports have one, before it executes any of them. */
test.each(entries)('no module of this thread has a top-level await: %s', async (entry) => {
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads')
    let outcome = 'loaded'
    try { require(workerData.file) } catch ({ code, message }) { outcome = code ?? message }
    parentPort.postMessage({ outcome })`,
    { eval: true, execArgv: [], workerData: { file: fileURLToPath(new URL(entry, source)) } },
  )
  const [{ outcome }] = await once(worker, 'message')
  await worker.terminate()
  expect(outcome).toBe('loaded')
})
