import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { distributeDeclaration } from '../../src/cli/declarations/ledger.ts'
import { distribute } from '../../src/cli/distribute.ts'
import { citusUrl } from '../support/citus.ts'
import { databases, onDatabase } from '../support/databases.ts'
import { type LogStore, openLogStore } from '../support/log-store.ts'
import { runCommand } from '../support/run-command.ts'

const run = (url: string, words: readonly string[], isTerminal = false) =>
  runCommand(distribute, words, { env: { DATABASE_URL: url }, isTerminal })

test('distribute is rejected on SQLite by its code, even without a ledger', async () => {
  const { code, stdout, stderr } = await run('file:none.db', [])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^ledger-gateway distribute: SHARDS_NOT_SUPPORTED: .*\n$/)
})

test.each([['0'], ['-1'], ['many'], ['1e2'], ['10000']])(
  'distribute rejects %s shards',
  async (shards) => {
    const { code, stderr } = await run('file:none.db', ['--shards', shards])
    expect(code).toBe(2)
    expect(stderr).toContain(`--shards must be a whole number from 1 to 9999, not ${shards}`)
  },
)

describe('on PostgreSQL without Citus,', () => {
  let log: LogStore
  beforeAll(async () => {
    log = await openLogStore(databases[1])
  })
  afterAll(() => log.close())

  test('distribute is rejected, as it is without a ledger and during an import', async () => {
    const codeOf = async () => /distribute: (\w+):/.exec((await run(log.url, [])).stderr)?.[1]
    expect(await codeOf()).toBe('CITUS_MISSING')
    await onDatabase(log.url, `INSERT INTO imports (id, lines, digest) VALUES (1, 1, '')`)
    expect(await codeOf()).toBe('IMPORT_UNFINISHED')
    await onDatabase(log.url, 'DELETE FROM imports')
    await onDatabase(log.url, 'DELETE FROM network')
    expect(await codeOf()).toBe('NOTHING_TO_DISTRIBUTE')
  })
})

/** The log is in four shards on two workers from the start. */
describe.runIf(citusUrl !== undefined)('on Citus,', () => {
  let log: LogStore
  beforeAll(async () => {
    log = await openLogStore(databases.find(({ name }) => name === 'citus'))
  })
  afterAll(() => log.close())

  test('distribute prints how the log is distributed, and rejects another number of shards', async () => {
    const { run: call, prints } = distributeDeclaration.example
    const [, , ...words] = call.split(' ')
    expect(await run(log.url, words, true)).toEqual({ code: 0, stdout: `${prints}\n`, stderr: '' })
    const { code, stdout } = await run(log.url, [])
    expect([code, JSON.parse(stdout)]).toEqual([0, { shards: 4, workers: 2 }])
    const other = await run(log.url, ['--shards', '5'])
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('LOG_DISTRIBUTED')])
    const stopped = Promise.resolve('SIGINT' as const)
    const interrupted = await runCommand(distribute, [], {
      env: { DATABASE_URL: log.url },
      stopped,
    })
    expect(interrupted.stderr).toBe(
      'ledger-gateway distribute: DISTRIBUTION_INTERRUPTED: the log is still in one table or already in shards; run the same command to continue\n',
    )
  })
})
