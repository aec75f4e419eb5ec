import { once } from 'node:events'
import { getPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

/** Reads the nice value of the current thread. */
const niceText = `Number(readFileSync('/proc/thread-self/stat', 'utf8').split(') ')[1].split(' ')[16])`
const module = new URL('../../src/lib/thread-priority.ts', import.meta.url)

const ownNice = () => getPriority(process.pid)

test.runIf(process.platform === 'linux').each([
  ['half', 3],
  ['tenth', 10],
])('only the requesting thread has a lower priority: %s', async (share, niceValue) => {
  const before = ownNice()
  const worker = new Worker(
    `import { readFileSync } from 'node:fs'
    import { parentPort } from 'node:worker_threads'
    import { lowerThreadPriority } from ${JSON.stringify(module.href)}
    lowerThreadPriority('${share}')
    parentPort.postMessage(${niceText})`,
    { eval: true, execArgv: ['--input-type=module'] },
  )
  const [lowered] = await once(worker, 'message')
  expect([lowered, ownNice()]).toEqual([Math.max(niceValue, before), before])
})
