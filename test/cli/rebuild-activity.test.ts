import { describe, expect, test } from 'vitest'
import { rebuildActivity } from '../../src/cli/rebuild-activity.ts'
import { resolutions } from '../../src/ledger/activity-buckets.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import type { Store } from '../../src/store/contract.ts'
import { foundActivityLedger } from '../support/activity-model.ts'
import { databases, onDatabase, openedStore, useStore } from '../support/databases.ts'
import { runCommand } from '../support/run-command.ts'
import { until } from '../support/until.ts'

const parameters = { ...developmentParameters(1_700_000_000), slotsPerEpochExponent: 3 }

function run(url: string, ...words: string[]) {
  return runCommand(rebuildActivity, words, { env: { DATABASE_URL: url } })
}

function allActivity({ read }: Store) {
  const all = resolutions.map((one) => read.activity(one, 0, Number.MAX_SAFE_INTEGER))
  return Promise.all(all)
}

describe.each(databases)('rebuild-activity on $name', ({ create }) => {
  const use = useStore(create)

  test('restores missing and wrong counts, also if it runs twice', async () => {
    const ledger = await foundActivityLedger(use, 21, parameters)
    await ledger.commit(30)
    const right = await allActivity(use.store)
    await use.store.write.releaseLease(use.term)
    await onDatabase(use.url, 'DELETE FROM activity WHERE resolution = 1')
    await onDatabase(use.url, 'UPDATE activity SET addresses = 1000, updates = updates + 1')
    for (let time = 0; time < 2; time++) {
      const { code, stdout, stderr } = await run(use.url)
      expect([code, stderr]).toEqual([0, ''])
      expect(JSON.parse(stdout)).toEqual({ rows: expect.any(Number) })
      const again = await openedStore(use.url)
      expect(await allActivity(again)).toEqual(right)
      await again.close()
    }
  })

  test('is rejected while another process writes and without a ledger', async () => {
    expect(await run(use.url)).toMatchObject({
      code: 1,
      stderr: 'ledger-gateway rebuild-activity: the database holds no ledger\n',
    })
    await foundActivityLedger(use, 22, parameters)
    let isOver = false
    const renewing = until(async () => {
      await use.store.write.renewLease(use.term, 60_000)
      return isOver
    })
    expect(await run(use.url)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('another process (test) writes this database'),
    })
    isOver = true
    await renewing
  })

  test('shows only the message of the database when that fails', async () => {
    const ledger = await foundActivityLedger(use, 24, parameters)
    await ledger.commit(3)
    await onDatabase(use.url, 'DROP TABLE writer')
    const { code, stderr } = await run(use.url)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^ledger-gateway rebuild-activity: [^\n]*\bwriter\b[^\n]*\n$/)
  })

  test('changes nothing when it is interrupted while it waits for the lease', async () => {
    const ledger = await foundActivityLedger(use, 25, parameters)
    await ledger.commit(3)
    const before = await allActivity(use.store)
    await use.store.write.renewLease(use.term, 3_600_000)
    const stopped = Promise.resolve('SIGTERM' as const)
    const env = { DATABASE_URL: use.url }
    expect(await runCommand(rebuildActivity, [], { env, stopped })).toMatchObject({
      code: 1,
      stderr: 'ledger-gateway rebuild-activity: interrupted\n',
    })
    expect(await allActivity(use.store)).toEqual(before)
  })

  test('reports an interruption', async () => {
    const ledger = await foundActivityLedger(use, 23, parameters)
    await ledger.commit(3)
    await use.store.write.releaseLease(use.term)
    const stopped = Promise.resolve('SIGTERM' as const)
    const env = { DATABASE_URL: use.url }
    expect(await runCommand(rebuildActivity, [], { env, stopped })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('interrupted'),
    })
  })
})

test('rebuild-activity has no flag --file', async () => {
  expect(await run('file:none.db', '--file', 'x')).toMatchObject({ code: 2 })
})
