import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Environment } from '../../../src/config.ts'
import { present } from '../../../src/lib/assert.ts'
import { databases, type TestDatabase } from '../../support/databases.ts'
import { changing, type OddNode, passOn, type Spoil, startOddNode } from '../../support/odd-node.ts'
import { rest } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, post } from '../../support/submit.ts'
import { until } from '../../support/until.ts'
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
let node: OddNode
let database: TestDatabase
let members: TestGateway[]
let env: Environment
beforeAll(async () => {
  real = await startGateway()
  database = await kind.create()
  node = await startOddNode(real.url, passOn)
  env = { LEDGER: 'upstream', UPSTREAM_URLS: node.url, DATABASE_URL: database.url }
  // Together, so that both find the database new.
  members = await Promise.all([startGateway({ env }), startGateway({ env })])
  await Promise.all(members.map(({ url }) => untilHealth(url)))
})
afterAll(async () => {
  for (const member of members) await member.close()
  await database.remove()
  await node.close()
  await real.close()
})

const healthOf = async ({ url }: TestGateway) => (await rest(`${url}/health`)).json()

/** Every answer of `/health` until one is as it should be, that one included, as often as it can be asked. */
async function healthsUntil({ url }: TestGateway, isSo: (health: Health) => boolean) {
  const all: Health[] = []
  const what = `the health of ${url} passes ${isSo}`
  return until(
    async () => {
      const response = await rest(`${url}/health`)
      const { role, following } = await response.json()
      const health = { status: response.status, role, state: following.state }
      if (JSON.stringify(all.at(-1)) !== JSON.stringify(health)) all.push(health)
      return isSo(health) && all
    },
    { what },
  )
}

interface Health {
  readonly status: number
  readonly role: string
  readonly state: string
}

test('one follows, the other tells the same and hands blocks on', async () => {
  const healths = await Promise.all(members.map(healthOf))
  const states = healths.map(({ following }) => following.state)
  expect(states.sort()).toEqual(['following', 'standby'])
  const standby = present(
    members.find((_, i) => healths[i].role === 'standby'),
    'a member',
  )
  const { bytes, blockId } = blockOf(await offerOf(standby.url), taggedData('0x', '0x01'))
  expect(await acceptedId(await post(standby.url, bytes))).toBe(blockId)
  const { status } = await getJson(`${real.url}/api/core/v3/info`)
  await untilCommitted(standby.url, status.latestFinalizedSlot + 1)
})

test('the other one follows when the first has stopped, and is well all the while', async () => {
  const healths = await Promise.all(members.map(healthOf))
  const [writer, other] = healths[0].role === 'writer' ? members : members.toReversed()
  members = [present(other, 'the other')]
  const watched = healthsUntil(present(other, 'the other'), ({ state }) => state === 'following')
  await writer?.close()
  const seen = await watched
  expect(seen.map(({ status }) => status)).toEqual(seen.map(() => 200))
  expect([seen[0], seen.at(-1)]).toEqual([
    { status: 200, role: 'standby', state: 'standby' },
    { status: 200, role: 'writer', state: 'following' },
  ])
  const { status } = await getJson(`${real.url}/api/core/v3/info`)
  await untilCommitted(present(other, 'the other').url, status.latestFinalizedSlot + 1)
})

test.each([
  ['finds no node', () => gone, 'nodes away'],
  ['is contradicted', contradicting, 'stopped'],
] as const)(
  'one that takes over and %s is well until it has looked, and no longer',
  async (_name, spoil, state) => {
    const standby = await startGateway({ env })
    const writer = present(members[0], 'the writer')
    members = [standby, writer]
    await Promise.all(members.map(({ url }) => untilHealth(url)))
    node.spoilBy(await spoil(standby.url))
    await healthsUntil(writer, (health) => health.state === state)
    const watched = healthsUntil(standby, (health) => health.state === state)
    members = [standby]
    await writer.close()
    const seen = await watched
    expect(seen[0]).toEqual({ status: 200, role: 'standby', state: 'standby' })
    expect(seen.at(-1)).toEqual({ status: 503, role: 'writer', state })
    const statuses = seen.map(({ status }) => status)
    expect(statuses, 'never well again once it is known').toEqual(statuses.toSorted())
    node.spoilBy(passOn)
  },
)

const gone: Spoil = () => 'HANG_UP'

/** A node that says that it has committed what is newest here in another way. */
async function contradicting(url: string): Promise<Spoil> {
  const { latestCommitmentId: ours } = (await getJson(`${url}/api/core/v3/info`)).status
  const latestCommitmentId = `0x${ours[2] === '0' ? '1' : '0'}${ours.slice(3)}`
  return changing('/core/v3/info', (info) => ({
    ...info,
    status: { ...info.status, latestCommitmentId },
  }))
}
