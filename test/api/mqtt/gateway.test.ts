import { afterEach, expect, test } from 'vitest'
import { createWake } from '../../../src/feed/wake.ts'
import { present } from '../../../src/lib/assert.ts'
import { databases } from '../../support/databases.ts'
import { neverMs } from '../../support/feed-log.ts'
import { openListener } from '../../support/mqtt.ts'
import { startGateway, type TestGateway } from '../../support/start-gateway.ts'
import { until } from '../../support/until.ts'

/** A whole gateway publishes blocks when they are written; here it gets neither a wake-up by a commit nor a tick of the feed. */

const deps = { wake: { ...createWake(), notify: () => {} }, feed: { tickMs: neverMs } }
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(options: Parameters<typeof startGateway>[0]): Promise<TestGateway> {
  const gateway = await startGateway(options)
  closing.push(gateway.close)
  return gateway
}

/** Expects blocks to be published; the gateway that writes issues one in every slot. */
async function publishesBlocks(gateway: TestGateway): Promise<void> {
  const listener = await openListener(gateway.url)
  closing.push(listener.close)
  let published = 0
  listener.client.on('message', () => published++)
  expect(await listener.listen('blocks/raw')).toBe(0)
  await until(() => published >= 2)
}

test('a gateway publishes its own blocks', async () => {
  await publishesBlocks(await start({ deps }))
})

test('a gateway publishes the blocks of another gateway on its database', async () => {
  const postgresql = databases.find(({ name }) => name === 'postgresql')
  const database = await present(postgresql, 'postgresql').create()
  closing.push(database.remove)
  const env = { DATABASE_URL: database.url }
  await start({ env })
  await publishesBlocks(await start({ env, deps }))
})
