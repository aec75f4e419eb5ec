import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Folder, makeFolder, type Program, startProgram } from '../support/program.ts'

/** The gateway bounds its heap by beginning again as the same process. */
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

  /** What a process was begun with; the number is that of the process that the test started. */
  const boundsOf = ({ process }: Program) =>
    readFileSync(`/proc/${process.pid}/cmdline`, 'utf8')
      .split('\0')
      .filter((word) => /semi|heap|pool/.test(word))

  test('is bounded in the process that was started, which says nothing of it', async () => {
    const started = await start({ LOG_LEVEL: 'error' })
    const threads = Math.min(4, Math.max(1, availableParallelism() - 1))
    expect(boundsOf(started)).toEqual(['--max-semi-space-size=16', `--v8-pool-size=${threads}`])
    expect([started.process.exitCode, started.logged()]).toEqual([null, ''])
  })

  test('is collected by as many threads as the operator says', async () => {
    const started = await start({ NODE_OPTIONS: '--v8-pool-size=2' })
    expect(boundsOf(started)).toEqual(['--max-semi-space-size=16'])
  })

  test('has the bound that the operator says', async () => {
    const started = await start({ NODE_OPTIONS: '--max_semi_space_size=32' })
    expect(boundsOf(started)).toEqual([])
  })
})
