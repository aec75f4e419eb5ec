import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { keypairOf } from '../../src/protocol/keys.ts'
import { databases, type TestDatabase } from '../support/databases.ts'
import { rest, restJson } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { acceptedId, post } from '../support/submit.ts'
import { until } from '../support/until.ts'
import {
  addressOf,
  blockOf,
  getJson,
  offerOf,
  taggedData,
  untilCommitted,
  untilHealth,
} from '../support/wallet.ts'

/** Several gateways on one PostgreSQL. What happens to them when things go wrong is the cluster test's. */

const kind = present(
  databases.find(({ name }) => name === 'postgresql'),
  'postgresql',
)

describe('two gateways on one database', () => {
  let database: TestDatabase
  let writer: TestGateway
  let member: TestGateway

  beforeAll(async () => {
    database = await kind.create()
    writer = await startGateway({ env: { DATABASE_URL: database.url } })
    member = await startGateway({ env: { DATABASE_URL: database.url } })
    await Promise.all([untilHealth(writer.url), untilHealth(member.url)])
  })
  afterAll(async () => {
    await member.close()
    await database.remove()
  })

  test('say which of them writes, and under which term', async () => {
    expect(await restJson(`${writer.url}/health`)).toMatchObject({ role: 'writer', term: 1 })
    expect(await restJson(`${member.url}/health`)).toMatchObject({ role: 'standby', term: 1 })
  })

  test('take blocks at both, and tell of them at both', async () => {
    for (const [to, from] of [
      [member, writer],
      [writer, member],
    ] as const) {
      const { bytes, blockId } = blockOf(await offerOf(to.url), taggedData('0x', '0x'))
      expect(await acceptedId(await post(to.url, bytes))).toBe(blockId)
      await untilState(from.url, blockId, 'finalized')
    }
  })

  test('pay from one purse what is asked of both faucets', async () => {
    const receivers = [
      keypairOf(new Uint8Array(32).fill(41)),
      keypairOf(new Uint8Array(32).fill(42)),
    ]
    const asked = receivers.map((key, i) =>
      rest(`${[writer, member][i]?.url}/api/enqueue`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ address: addressOf(key) }),
      }),
    )
    for (const response of await Promise.all(asked)) expect(response.status).toBe(202)
    const updates = '/api/explorer/v2/ledger/updates/by-address'
    for (const key of receivers) {
      const url = `${member.url}${updates}/${addressOf(key)}`
      await until(async () => (await restJson(url)).items.length > 0)
    }
  })

  test('follow the same commitments', async () => {
    const { status } = await getJson(`${writer.url}/api/core/v3/info`)
    await untilCommitted(member.url, status.latestFinalizedSlot + 2)
  })

  test('one becomes the writer as soon as the other has stopped, and goes on', async () => {
    const { bytes, blockId } = blockOf(await offerOf(member.url), taggedData('0x', '0x01'))
    await writer.close()
    await acceptedId(await post(member.url, bytes))
    await until(async () => (await restJson(`${member.url}/health`)).role === 'writer')
    expect(await restJson(`${member.url}/health`)).toMatchObject({ isHealthy: true, term: 2 })
    await untilState(member.url, blockId, 'finalized')
  })
})

async function untilState(url: string, blockId: string, state: string): Promise<void> {
  const isSo = async () => {
    const response = await rest(`${url}/api/core/v3/blocks/${blockId}/metadata`)
    return response.ok && (await response.json()).blockState === state
  }
  await until(isSo, { what: `${blockId} is ${state}` })
}
