import { expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { databases } from '../support/databases.ts'
import { openHaltingProxy } from '../support/halting-proxy.ts'
import { restJson } from '../support/rest.ts'
import { startGateway } from '../support/start-gateway.ts'
import { until } from '../support/until.ts'
import { untilHealth } from '../support/wallet.ts'

const kind = present(
  databases.find(({ name }) => name === 'postgresql'),
  'postgresql',
)

test('a database that stops responding causes 503 and one log line until it responds again', async () => {
  const database = await kind.create()
  const url = new URL(database.url)
  const proxy = await openHaltingProxy(Number(url.port))
  Object.assign(url, { hostname: '127.0.0.1', port: String(proxy.port) })
  const gateway = await startGateway({ env: { DATABASE_URL: url.href } })
  await untilHealth(gateway.url)
  const events = (...names: string[]) =>
    gateway.logged
      .map((line) => JSON.parse(line))
      .filter(({ event }) => names.includes(event))
      .map(({ event, reason }) => [event, reason])

  const { latestCommitmentId } = (await restJson(`${gateway.url}/api/core/v3/info`)).status
  const commitment = `${gateway.url}/api/core/v3/commitments/${latestCommitmentId}`
  expect((await fetch(commitment)).status).toBe(200)

  proxy.halt()
  // More requests than connections. Cached responses are served all the time.
  const waiting = Array.from({ length: 30 }, () => fetch(`${gateway.url}/v1/chains`))
  for (let i = 0; i < 30; i++) expect((await fetch(commitment)).status).toBe(200)
  await untilHealth(gateway.url, 503)
  expect((await fetch(commitment)).status).toBe(200)
  await untilHealth(gateway.url, 503)
  const silent = ['database-silent', 'no answer within 3000 ms']
  expect(events('database-silent', 'database-answers', 'slow-operation')).toEqual([silent])

  proxy.resume()
  await untilHealth(gateway.url)
  for (const response of await Promise.all(waiting)) expect([200, 503]).toContain(response.status)
  await until(async () => (await restJson(`${gateway.url}/api/core/v3/info`)).status.isHealthy)
  expect(events('database-silent', 'database-answers')).toEqual([
    silent,
    ['database-answers', undefined],
  ])
  await gateway.close()
  await proxy.close()
  await database.remove()
})
