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
  offerOf,
  taggedData,
  untilCommitted,
  untilHealth,
} from '../support/wallet.ts'

/** Two gateways on one PostgreSQL. `npm run torture -- cluster` tests their failures. */

const kind = present(
  databases.find(({ name }) => name === 'postgresql'),
  'postgresql',
)

describe('two gateways on one database', () => {
  let database: TestDatabase
  let writer: TestGateway
  let standby: TestGateway

  beforeAll(async () => {
    database = await kind.create()
    writer = await startGateway({ env: { DATABASE_URL: database.url } })
    standby = await startGateway({ env: { DATABASE_URL: database.url } })
    await Promise.all([untilHealth(writer.url), untilHealth(standby.url)])
  })
  afterAll(async () => {
    await standby.close()
    await database.remove()
  })

  test('report their roles and the leader term', async () => {
    expect(await restJson(`${writer.url}/health`)).toMatchObject({ role: 'writer', term: 1 })
    expect(await restJson(`${standby.url}/health`)).toMatchObject({ role: 'standby', term: 1 })
  })

  test('both accept blocks and serve the blocks of the other', async () => {
    for (const [to, from] of [
      [standby, writer],
      [writer, standby],
    ] as const) {
      const { bytes, blockId } = blockOf(await offerOf(to.url), taggedData('0x', '0x'))
      expect(await acceptedId(await post(to.url, bytes))).toBe(blockId)
      await untilState(from.url, blockId, 'finalized')
    }
  })

  test('pay faucet requests of both from one account', async () => {
    const receivers = [
      keypairOf(new Uint8Array(32).fill(41)),
      keypairOf(new Uint8Array(32).fill(42)),
    ]
    const requests = receivers.map((key, i) =>
      rest(`${[writer, standby][i]?.url}/api/enqueue`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ address: addressOf(key) }),
      }),
    )
    for (const response of await Promise.all(requests)) expect(response.status).toBe(202)
    const updates = '/api/explorer/v2/ledger/updates/by-address'
    for (const key of receivers) {
      const url = `${standby.url}${updates}/${addressOf(key)}`
      await until(async () => (await restJson(url)).items.length > 0)
    }
  })

  test('follow the same commitments', async () => {
    const { status } = await restJson(`${writer.url}/api/core/v3/info`)
    await untilCommitted(standby.url, status.latestFinalizedSlot + 2)
  })

  test('continue when the writer stops, with the standby as the writer', async () => {
    const { bytes, blockId } = blockOf(await offerOf(standby.url), taggedData('0x', '0x01'))
    await writer.close()
    await acceptedId(await post(standby.url, bytes))
    await until(async () => (await restJson(`${standby.url}/health`)).role === 'writer')
    await untilHealth(standby.url)
    expect(await restJson(`${standby.url}/health`)).toMatchObject({ role: 'writer', term: 2 })
    await untilState(standby.url, blockId, 'finalized')
  })
})

async function untilState(url: string, blockId: string, state: string): Promise<void> {
  const isSo = async () => {
    const response = await rest(`${url}/api/core/v3/blocks/${blockId}/metadata`)
    return response.ok && (await response.json()).blockState === state
  }
  await until(isSo, { what: `${blockId} is ${state}` })
}
