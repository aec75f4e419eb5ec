import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { databases, type TestDatabase } from '../../support/databases.ts'
import { rest } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, post } from '../../support/submit.ts'
import {
  blockOf,
  getJson,
  offerOf,
  taggedData,
  untilCommitted,
  untilHealth,
} from '../../support/wallet.ts'

/** Several gateways on one database in front of a node: one of them follows. */

const kind = present(
  databases.find(({ name }) => name === 'postgresql'),
  'postgresql',
)
let real: TestGateway
let database: TestDatabase
let members: TestGateway[]
beforeAll(async () => {
  real = await startGateway()
  database = await kind.create()
  const env = { LEDGER: 'upstream', UPSTREAM_URLS: real.url, DATABASE_URL: database.url }
  // Together, so that both find the database new.
  members = await Promise.all([startGateway({ env }), startGateway({ env })])
  await Promise.all(members.map(({ url }) => untilHealth(url)))
})
afterAll(async () => {
  for (const member of members) await member.close()
  await database.remove()
  await real.close()
})

/** Whatever its status: a gateway that takes over is not well until it has looked at the node. */
const healthOf = async ({ url }: TestGateway) => (await rest(`${url}/health`)).json()

test('one follows, the other tells the same and hands blocks on', async () => {
  const healths = await Promise.all(members.map(healthOf))
  const states = healths.map(({ following }) => following.state)
  expect(states.sort()).toEqual(['following', 'standby'])
  const standby = present(
    members.find((_, i) => healths[i].role === 'member'),
    'a member',
  )
  const { bytes, blockId } = blockOf(await offerOf(standby.url), taggedData('0x', '0x01'))
  expect(await acceptedId(await post(standby.url, bytes))).toBe(blockId)
  const { status } = await getJson(`${real.url}/api/core/v3/info`)
  await untilCommitted(standby.url, status.latestFinalizedSlot + 1)
})

test('the other one follows when the first has stopped', async () => {
  const healths = await Promise.all(members.map(healthOf))
  const [writer, other] = healths[0].role === 'writer' ? members : members.toReversed()
  members = [present(other, 'the other')]
  await writer?.close()
  while ((await healthOf(present(other, 'the other'))).following.state !== 'following') {
    await delay(20)
  }
  const { status } = await getJson(`${real.url}/api/core/v3/info`)
  await untilCommitted(present(other, 'the other').url, status.latestFinalizedSlot + 1)
})
