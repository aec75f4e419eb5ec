import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { silentLog } from '../../src/lib/log.ts'
import { ok } from '../../src/lib/result.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { enterDatabase } from '../../src/node/enter-database.ts'
import { ProtocolParameters } from '../../src/protocol/parameters.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import { databases, defaultDatabase, onDatabase, useStore } from '../support/databases.ts'
import { unwrap } from '../support/log-store.ts'
import { slotCommit, testGenesis } from '../support/store-rows.ts'

/** Tests the start on a database that another process initializes, and on one that is old. */

const use = useStore(defaultDatabase().create)
const [sqlite] = databases

test('a start that waits for the ledger of another process ends when it has to stop', async () => {
  const stopping = new AbortController()
  const entering = enterDatabase(
    { store: use.store, log: silentLog, holder: 'next', stopping: stopping.signal },
    { networkName: undefined, keptBy: 'THIS_PROGRAM', genesis: async () => ok(testGenesis()) },
  )
  stopping.abort()
  expect(await entering).toEqual({ ok: false, error: { code: 'START_INTERRUPTED' } })
})

test('a start that takes the lease of a database that just got another network releases it', async () => {
  const { store, term } = use
  const entered = await enterDatabase(
    { store, log: silentLog, holder: 'next' },
    {
      networkName: 'another',
      keptBy: 'THIS_PROGRAM',
      genesis: async () => {
        unwrap(await store.write.initialize(term, testGenesis()))
        await store.write.releaseLease(term)
        return ok(testGenesis())
      },
    },
  )
  expect(entered).toMatchObject({ ok: false, error: { code: 'NETWORK_DIFFERS' } })
  expect((await store.read.lease())?.leftMs).toBeLessThanOrEqual(0)
})

describe('a start on a file that another program has locked', () => {
  const locked = useStore(present(sqlite, 'sqlite').create)

  test('serves its ledger without the lease', async () => {
    const { store, term, url } = locked
    unwrap(await store.write.initialize(term, testGenesis()))
    const other = new DatabaseSync(url.slice('file:'.length))
    other.exec('BEGIN IMMEDIATE')
    const entered = await enterDatabase(
      { store, log: silentLog, holder: 'next' },
      { networkName: undefined, keptBy: 'THIS_PROGRAM', genesis: async () => ok(testGenesis()) },
    )
    expect(entered).toMatchObject({ ok: true, value: { lease: undefined } })
    other.close()
  })
})

test('a start reads the epoch of the newest slot, and none of the epochs before it', async () => {
  const { store, term, url } = use
  const parameters = { ...developmentParameters(0), slotsPerEpochExponent: 1 }
  const genesis = testGenesis()
  const network = { ...genesis.network, parameters: encode(ProtocolParameters, parameters) }
  unwrap(await store.write.initialize(term, { ...genesis, network }))
  unwrap(await store.write.closeSlots(term, 3))
  const epochs = [1, 2].map((epoch) => ({ ...present(genesis.epoch, 'an epoch'), epoch }))
  const commits = [slotCommit(1), slotCommit(2, [], { epochs }), slotCommit(3)]
  unwrap(await store.write.commitSlots(term, commits))
  const entering = () =>
    enterDatabase(
      { store, log: silentLog, holder: 'next' },
      { networkName: undefined, keptBy: 'THIS_PROGRAM', genesis: async () => ok(genesis) },
    )
  // What cannot be read was not read.
  await onDatabase(url, "UPDATE epochs SET committee = '?' WHERE epoch = 0")
  expect(await entering()).toMatchObject({ ok: true, value: { lease: undefined } })
  await onDatabase(url, 'DELETE FROM epochs')
  expect(await entering()).toEqual({
    ok: false,
    error: { code: 'LEDGER_KEPT_BY_OTHERS', keptBy: 'NODES' },
  })
})
