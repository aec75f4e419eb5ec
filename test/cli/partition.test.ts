import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { partitionDeclaration } from '../../src/cli/declarations/ledger.ts'
import { partition } from '../../src/cli/partition.ts'
import { databases } from '../support/databases.ts'
import { type LogStore, openLogStore } from '../support/log-store.ts'
import { runCommand } from '../support/run-command.ts'

const run = (url: string, words: readonly string[], isTerminal = false) =>
  runCommand(partition, words, { env: { DATABASE_URL: url }, isTerminal })

test('partition is rejected on SQLite by its code, even without a ledger', async () => {
  const { code, stdout, stderr } = await run('file:none.db', [])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^ledger-gateway partition: PARTITIONS_NOT_SUPPORTED: .*\n$/)
})

test.each([['99'], ['-1'], ['many'], ['1e6'], ['9999999999999999']])(
  'partition rejects %s rows',
  async (rows) => {
    const { code, stderr } = await run('file:none.db', ['--rows', rows])
    expect(code).toBe(2)
    expect(stderr).toContain(`--rows must be a whole number from 100 to 1000000000000, not ${rows}`)
  },
)

describe('on PostgreSQL,', () => {
  let log: LogStore
  beforeAll(async () => {
    log = await openLogStore(databases[1])
  })
  afterAll(() => log.close())

  test('partition prints the partitions and the lock time as JSON, and as text on a terminal', async () => {
    const { code, stdout, stderr } = await run(log.url, ['--rows', '1000000'])
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toEqual({
      partitions: [
        { first: 1, last: 1_000_000 },
        { first: 1_000_001, last: 2_000_000 },
      ],
      lockedMs: expect.any(Number),
    })
    // The example of the help text, on a partitioned log.
    const { run: call, prints } = partitionDeclaration.example
    const [, , ...words] = call.split(' ')
    const again = await run(log.url, words, true)
    expect(again).toEqual({ code: 0, stdout: `${prints}\n`, stderr: '' })
  })
})
