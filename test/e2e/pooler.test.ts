import { afterAll, beforeAll, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { databases, type TestDatabase } from '../support/databases.ts'
import { openStream } from '../support/event-stream.ts'
import { restJson } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { acceptedId, post } from '../support/submit.ts'
import { startPooler, type TransactionPooler } from '../support/transaction-pooler.ts'
import { until } from '../support/until.ts'
import { blockOf, offerOf, taggedData, untilHealth } from '../support/wallet.ts'

/** Two gateways behind a transaction pooler with three connections. */

const kind = present(
  databases.find(({ name }) => name === 'postgresql'),
  'postgresql',
)
let database: TestDatabase
let pooler: TransactionPooler
let writer: TestGateway
let standby: TestGateway

beforeAll(async () => {
  database = await kind.create()
  pooler = await startPooler(database.url, 3)
  const env = { DATABASE_URL: pooler.url, WAKE_DATABASE_URL: database.url }
  writer = await startGateway({ env })
  standby = await startGateway({ env })
  await Promise.all([untilHealth(writer.url), untilHealth(standby.url)])
})
afterAll(async () => {
  await standby.close()
  await pooler.close()
  await database.remove()
})

test('gateways behind a pooler accept and commit blocks and replace a stopped writer', async () => {
  const query = 'subscription { milestones { index } }'
  const stream = await openStream(`${standby.url}/graphql?${new URLSearchParams({ query })}`)
  const offers = await Promise.all([writer, standby].map(({ url }) => offerOf(url)))
  const blocks = offers.flatMap((offer, i) =>
    Array.from({ length: 20 }, (_, n) => blockOf(offer, taggedData('0x', `0x0${i}${10 + n}`))),
  )
  const sent = blocks.map(async ({ bytes }, n) =>
    acceptedId(await post((n % 2 === 0 ? writer : standby).url, bytes)),
  )
  expect(await Promise.all(sent)).toEqual(blocks.map(({ blockId }) => blockId))
  for (const { blockId } of blocks) await untilFinal(standby.url, blockId)
  const [first, second] = [await stream.result(), await stream.result()]
  expect(second.data.milestones.index).toBe(first.data.milestones.index + 1)
  stream.close()
  expect(pooler.lent()).toBeGreaterThan(blocks.length)

  await writer.close()
  await until(async () => (await restJson(`${standby.url}/health`)).role === 'writer')
  const last = blockOf(await offerOf(standby.url), taggedData('0x', '0x0300'))
  await acceptedId(await post(standby.url, last.bytes))
  await untilFinal(standby.url, last.blockId)
})

async function untilFinal(url: string, blockId: string): Promise<void> {
  const path = `/api/core/v3/blocks/${blockId}/metadata`
  await until(async () => (await restJson(url + path)).blockState === 'finalized')
}
