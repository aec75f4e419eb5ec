import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isStoreAway, storeFaultOf } from '../../../src/store/faults.ts'
import { connectionTo } from '../../../src/store/postgresql/hosts.ts'
import { databaseLocation, hostUrlsOf, isPostgresqlUrl } from '../../../src/store/url.ts'
import { openedStore, takenLease } from '../../support/databases.ts'
import {
  freePort,
  type PostgresqlServer,
  startPostgresql,
} from '../../support/postgresql-server.ts'
import {
  ask,
  type Standby,
  setSynchronousStandbys,
  startStandby,
  waitForStandby,
} from '../../support/standby.ts'
import { incomingBlock, testGenesis } from '../../support/store-rows.ts'
import { until } from '../../support/until.ts'

describe('a URL of several hosts', () => {
  const url =
    'postgresql://u:p%2C@one:5433,two,[::1]:5434/ledger?sslmode=require&target_session_attrs=primary'

  test('stands for one URL per host', () => {
    expect(isPostgresqlUrl(url)).toBe(true)
    const rest = '/ledger?sslmode=require'
    expect(hostUrlsOf(url)).toEqual([
      `postgresql://u:p%2C@one:5433${rest}`,
      `postgresql://u:p%2C@two${rest}`,
      `postgresql://u:p%2C@[::1]:5434${rest}`,
    ])
    expect(databaseLocation(url)).toBe('one:5433,two,[::1]:5434/ledger')
  })

  const malformed = [
    ['an empty host', 'postgresql://one,,two/ledger'],
    ['an invalid port', 'postgresql://one:5432,two:x/ledger'],
    ['no database', 'postgresql://one,two'],
    ['unknown attributes', 'postgresql://one,two/ledger?target_session_attrs=writable'],
  ] as const
  test.each(malformed)('is refused with %s', (_what, text) =>
    expect(isPostgresqlUrl(text)).toBe(false),
  )
})

describe('a primary and its synchronous standby', () => {
  let primary: PostgresqlServer
  let standby: Standby
  let gone: number
  beforeAll(async () => {
    primary = await startPostgresql()
    standby = await startStandby(primary.url)
    await waitForStandby(primary.url)
    gone = await freePort()
  })
  afterAll(async () => {
    await standby.stop()
    await primary.stop()
  })

  /** Returns a URL with all ports, in this order. */
  function urlOf(ports: readonly (string | number)[], wanted: string): string {
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join()
    return `${primary.url.replace(/127\.0\.0\.1:\d+/, hosts)}?target_session_attrs=${wanted}`
  }

  test('are distinguished by what a session may do on them', async () => {
    const [first, second] = [primary, standby].map(({ url }) => new URL(url).port) as [
      string,
      string,
    ]
    const rows = [
      [[gone, first, second], 'any', first],
      [[second, first], 'any', second],
      [[second, first], 'read-write', first],
      [[second, first], 'primary', first],
      [[first, second], 'read-only', second],
      [[first, second], 'standby', second],
      [[first, second], 'prefer-standby', second],
      [[first, gone], 'prefer-standby', first],
    ] as const
    for (const [ports, wanted, expected] of rows) {
      const client = new Client(connectionTo(urlOf(ports, wanted)))
      await client.connect()
      const { rows: found } = await client.query<{ port: string }>('SHOW port')
      expect([wanted, found[0]?.port]).toEqual([wanted, expected])
      await client.end()
    }
    const nowhere = new Client(connectionTo(urlOf([first, gone], 'standby')))
    nowhere.on('error', () => {})
    const failure = await nowhere.connect().catch((thrown: unknown) => thrown)
    expect(isStoreAway(failure)).toBe(true)
    expect(String(failure)).toMatch(/127\.0\.0\.1:\d+ is not standby/)
  })

  test('acknowledge no block when the wait for the standby is cancelled', async () => {
    const store = await openedStore(primary.url)
    const term = await takenLease(store)
    await store.write.initialize(term, testGenesis())
    await setSynchronousStandbys(primary.url, 'nobody')
    for (const attempt of ['ACCEPTED', 'KNOWN']) {
      const accepting = store.write.acceptBlocks([incomingBlock(1)]).then(String, storeFaultOf)
      const cancel = `SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
        WHERE wait_event = 'SyncRep' AND datname = current_database()`
      await until(async () => (await ask(primary.url, cancel)) === '1')
      expect([attempt, await accepting]).toEqual([attempt, 'AWAY'])
    }
    await setSynchronousStandbys(primary.url, '*')
    expect(await store.write.acceptBlocks([incomingBlock(1)])).toEqual(['KNOWN'])
    await store.write.releaseLease(term)
    await store.close()
  })

  test('are one database to a store, also when the standby takes over', async () => {
    const ports = [primary, standby].map(({ url }) => new URL(url).port)
    const store = await openedStore(urlOf(ports, 'read-write'))
    const term = await takenLease(store)
    await store.write.initialize(term, testGenesis())
    const positions: number[] = []
    const listening = store.listen(
      (news) => void (news.topic === 'LOG_GREW' && positions.push(news.seq)),
    )
    await store.write.acceptBlocks([incomingBlock(1)])
    await primary.halt('crash')
    const { length: before } = positions
    await standby.promote()
    const accepted = await until(async () => {
      try {
        return await store.write.acceptBlocks([incomingBlock(1), incomingBlock(2)])
      } catch (failure) {
        expect(isStoreAway(failure)).toBe(true)
        return undefined
      }
    })
    // The acknowledged block is stored.
    expect(accepted).toEqual(['KNOWN', 'ACCEPTED'])
    expect(store.isRewound()).toBe(false)
    // The listener connects again and reads the tip, before or after the blocks are accepted.
    await until(() => positions.length > before)
    await listening.close()
    await store.close()
  })
})
