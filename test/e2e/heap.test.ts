import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Folder, makeFolder, type Program, startProgram } from '../support/program.ts'

/** The gateway limits its heap by executing itself again in the same process. */
describe.runIf(process.platform === 'linux')('the heap', () => {
  let folder: Folder
  let gateway: Program | undefined

  beforeEach(() => {
    folder = makeFolder()
  })
  afterEach(async () => {
    await gateway?.end('SIGTERM')
    folder.remove()
  })

  const start = async (env: object) => {
    gateway = await startProgram({ DATABASE_URL: folder.databaseUrl, ...env })
    return gateway
  }

  /** Returns the heap arguments of the process that the test started. */
  const heapArgumentsOf = ({ process }: Program) =>
    readFileSync(`/proc/${process.pid}/cmdline`, 'utf8')
      .split('\0')
      .filter((word) => /semi|heap|pool/.test(word))

  test('is limited in the started process without a log line', async () => {
    const started = await start({ LOG_LEVEL: 'error' })
    const threads = Math.min(4, Math.max(1, availableParallelism() - 1))
    expect(heapArgumentsOf(started)).toEqual([
      '--max-semi-space-size=32',
      `--v8-pool-size=${threads}`,
    ])
    expect([started.process.exitCode, started.logged()]).toEqual([null, ''])
  })

  test('is collected by the number of threads that the operator sets', async () => {
    const started = await start({ NODE_OPTIONS: '--v8-pool-size=2' })
    expect(heapArgumentsOf(started)).toEqual(['--max-semi-space-size=32'])
  })

  test('has the limit that the operator sets', async () => {
    const started = await start({ NODE_OPTIONS: '--max_semi_space_size=64' })
    expect(heapArgumentsOf(started)).toEqual([])
  })
})
