import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresqlServer, startPostgresql } from '../support/postgresql-server.ts'
import {
  ask,
  type Standby,
  setSynchronousStandbys,
  startStandby,
  waitForStandby,
} from '../support/standby.ts'
import { startGateway } from '../support/start-gateway.ts'
import { post } from '../support/submit.ts'
import { until } from '../support/until.ts'
import { blockOf, offerOf, taggedData, untilHealth } from '../support/wallet.ts'

/** Repeated submission of a block on a primary with a synchronous standby. */

let primary: PostgresqlServer
let standby: Standby
beforeAll(async () => {
  primary = await startPostgresql()
  standby = await startStandby(primary.url)
  await waitForStandby(primary.url)
})
afterAll(async () => {
  await standby.stop()
  await primary.stop()
})

test('a known block is acknowledged by a full gateway, but only once a write reaches the standby', async () => {
  const first = await startGateway({ env: { DATABASE_URL: primary.url } })
  await untilHealth(first.url)
  const offer = await offerOf(first.url)
  const known = blockOf(offer, taggedData('0x', '0x')).bytes
  expect((await post(first.url, known)).status).toBe(201)
  const other = blockOf(offer, taggedData('0x01', '0x')).bytes
  await first.close()

  const full = await startGateway({ env: { DATABASE_URL: primary.url, MAX_DATABASE_SIZE: '1' } })
  await untilHealth(full.url)
  expect((await post(full.url, other)).status).toBe(503)
  expect((await post(full.url, known)).status).toBe(201)

  await setSynchronousStandbys(primary.url, 'nobody')
  const again = post(full.url, known)
  let isAnswered = false
  const answered = again.finally(() => {
    isAnswered = true
  })
  const cancel = `SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
    WHERE wait_event = 'SyncRep' AND datname = current_database()`
  await until(async () => {
    await ask(primary.url, cancel)
    return isAnswered
  })
  expect((await answered).status).toBe(503)

  await setSynchronousStandbys(primary.url, '*')
  await until(async () => (await post(full.url, known)).status === 201)
  await full.close()
})
