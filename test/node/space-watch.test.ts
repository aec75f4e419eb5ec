import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { watchSpace } from '../../src/node/space-watch.ts'
import type { DatabaseSpace } from '../../src/store/load.ts'
import { graphql } from '../support/client.ts'
import { databases, defaultDatabase } from '../support/databases.ts'
import { openLogStore } from '../support/log-store.ts'
import { createMemoryLog } from '../support/memory-log.ts'
import { restJson } from '../support/rest.ts'
import { startGateway } from '../support/start-gateway.ts'
import { post } from '../support/submit.ts'
import { until } from '../support/until.ts'
import { untilHealth } from '../support/wallet.ts'

/** Tests whether there is room for new blocks. */

test.each(databases)('%s measures its size', async (kind) => {
  const { store, close } = await openLogStore(kind)
  const { databaseBytes, freeBytes } = await store.space()
  expect(databaseBytes).toBeGreaterThan(100_000)
  if (kind.name === 'sqlite') expect(freeBytes).toBeGreaterThan(1_000_000)
  else expect(freeBytes).toBeUndefined()
  await close()
})

test('low space is logged once, and so is its end; a failed measurement changes nothing', async () => {
  const { log, lines } = createMemoryLog(systemClock)
  const events = () => lines.map((line) => JSON.parse(line).event)
  const found: (DatabaseSpace | Error)[] = []
  let space: DatabaseSpace | Error = { databaseBytes: 10, freeBytes: 99 }
  const measure = async () => {
    found.push(space)
    if (space instanceof Error) throw space
    return space
  }
  const limits = { minFreeDisk: 100, maxDatabaseSize: 50 }
  const watch = await watchSpace({ store: { space: measure }, log }, limits, 1)
  expect(watch.low()).toEqual({ code: 'DISK_LOW', reason: 'FREE_DISK' })
  const last = new Error('no answer')
  space = last
  await until(() => found.includes(last))
  expect(watch.low()?.reason).toBe('FREE_DISK')
  space = { databaseBytes: 10, freeBytes: 100 }
  await until(() => watch.low() === undefined)
  space = { databaseBytes: 50, freeBytes: undefined }
  await until(() => watch.low()?.reason === 'DATABASE_SIZE')
  await watch.close()
  const logged = ['disk-low', 'space-not-measured', 'disk-free', 'disk-low']
  expect(events().filter((event, i, all) => event !== all[i - 1])).toEqual(logged)
})

test.each([
  // The free space of a server's disk is unknown here.
  ...(defaultDatabase().name === 'sqlite' ? [{ MIN_FREE_DISK: '999999999' }] : []),
  // An empty database is larger than this.
  { MIN_FREE_DISK: '0', MAX_DATABASE_SIZE: '1' },
])(
  'a gateway with %o rejects new blocks with a named error, and continues to commit slots',
  async (env) => {
    const gateway = await startGateway({ env })
    await untilHealth(gateway.url)
    const [reason] = 'MAX_DATABASE_SIZE' in env ? ['DATABASE_SIZE'] : ['FREE_DISK']
    const input = '{ payload: { taggedData: { tag: "0x", data: "0x00" } } }'
    const mutation = `mutation { submitBlock(input: ${input}) { blockId } }`
    const answer = await until(async () => {
      const response = await graphql(gateway.url, mutation)
      return response.errors && response
    })
    expect(answer.errors?.[0]?.extensions).toMatchObject({ code: 'DISK_LOW', reason })
    const refused = await post(gateway.url, '{"type":0,"tag":"0x","data":"0x"}')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    const newest = async () =>
      (await restJson(`${gateway.url}/api/core/v3/info`)).status.latestFinalizedSlot
    const before = await newest()
    await until(async () => (await newest()) > before)
    await gateway.close()
  },
)
