import { expect, test } from 'vitest'
import { silentLog } from '../../src/lib/log.ts'
import { ok } from '../../src/lib/result.ts'
import { enterDatabase } from '../../src/node/enter-database.ts'
import { defaultDatabase, useStore } from '../support/databases.ts'
import { testGenesis } from '../support/store-rows.ts'

/** Tests the start on a database that another process initializes. */

const use = useStore(defaultDatabase().create)

test('a start that waits for the ledger of another process ends when it has to stop', async () => {
  const stopping = new AbortController()
  const entering = enterDatabase(
    { store: use.store, log: silentLog, holder: 'next', stopping: stopping.signal },
    { networkName: undefined, keptBy: 'THIS_PROGRAM', genesis: async () => ok(testGenesis()) },
  )
  stopping.abort()
  expect(await entering).toEqual({ ok: false, error: { code: 'START_INTERRUPTED' } })
})
