import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Environment } from '../../../src/config.ts'
import { present } from '../../../src/lib/assert.ts'
import { databases, type TestDatabase } from '../../support/databases.ts'
import { changing, type OddNode, passOn, type Spoil, startOddNode } from '../../support/odd-node.ts'
import { rest, restJson } from '../../support/rest.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { acceptedId, post } from '../../support/submit.ts'
import { until } from '../../support/until.ts'
import { blockOf, offerOf, taggedData, untilCommitted, untilHealth } from '../../support/wallet.ts'

/** Tests several gateways on one database in upstream mode: one of them follows the node. */

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
  // Both start at the same time, so that both find an empty database.
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

/** Returns every different response of `/health` up to the first one that meets a condition. */
async function healthsUntil({ url }: TestGateway, meets: (health: Health) => boolean) {
  const all: Health[] = []
  const what = `the health of ${url} passes ${meets}`
  return until(
    async () => {
      const response = await rest(`${url}/health`)
      const { role, following } = await response.json()
      const health = { status: response.status, role, state: following.state }
      if (JSON.stringify(all.at(-1)) !== JSON.stringify(health)) all.push(health)
      return meets(health) && all
    },
    { what },
  )
}

interface Health {
  readonly status: number
  readonly role: string
  readonly state: string
}

test('one gateway follows, and the standby serves the same data and forwards blocks', async () => {
  const healths = await Promise.all(members.map(healthOf))
  const states = healths.map(({ following }) => following.state)
  expect(states.sort()).toEqual(['following', 'standby'])
  const standby = present(
    members.find((_, i) => healths[i].role === 'standby'),
    'a member',
  )
  const { bytes, blockId } = blockOf(await offerOf(standby.url), taggedData('0x', '0x01'))
  expect(await acceptedId(await post(standby.url, bytes))).toBe(blockId)
  const { status } = await restJson(`${real.url}/api/core/v3/info`)
  await untilCommitted(standby.url, status.latestFinalizedSlot + 1)
})

test('the standby follows when the first gateway has stopped, and stays healthy meanwhile', async () => {
  const healths = await Promise.all(members.map(healthOf))
  const [writer, other] = healths[0].role === 'writer' ? members : members.toReversed()
  members = [present(other, 'the other')]
  const watched = healthsUntil(present(other, 'the other'), ({ state }) => state === 'following')
  await writer?.close()
  const observed = await watched
  expect(observed.map(({ status }) => status)).toEqual(observed.map(() => 200))
  expect([observed[0], observed.at(-1)]).toEqual([
    { status: 200, role: 'standby', state: 'standby' },
    { status: 200, role: 'writer', state: 'following' },
  ])
  const { status } = await restJson(`${real.url}/api/core/v3/info`)
  await untilCommitted(present(other, 'the other').url, status.latestFinalizedSlot + 1)
})

test.each([
  ['finds no node', () => gone, 'nodes away'],
  ['is contradicted', contradicting, 'stopped'],
] as const)(
  'a new leader that %s is healthy only until its first attempt',
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
    const observed = await watched
    expect(observed[0]).toEqual({ status: 200, role: 'standby', state: 'standby' })
    expect(observed.at(-1)).toEqual({ status: 503, role: 'writer', state })
    const statuses = observed.map(({ status }) => status)
    expect(statuses, 'never healthy again afterwards').toEqual(statuses.toSorted())
    node.spoilBy(passOn)
  },
)

const gone: Spoil = () => 'HANG_UP'

/** Returns a node that reports another commitment for the gateway's newest slot. */
async function contradicting(url: string): Promise<Spoil> {
  const { latestCommitmentId: ownId } = (await restJson(`${url}/api/core/v3/info`)).status
  const latestCommitmentId = `0x${ownId[2] === '0' ? '1' : '0'}${ownId.slice(3)}`
  return changing('/core/v3/info', (info) => ({
    ...info,
    status: { ...info.status, latestCommitmentId },
  }))
}
