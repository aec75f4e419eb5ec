import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { maxOperationNames } from '../../src/metrics/meters.ts'
import { graphql, socketClient } from '../support/client.ts'
import { openStream } from '../support/event-stream.ts'
import { passOn, type Spoil, startOddNode } from '../support/odd-node.ts'
import { rest } from '../support/rest.ts'
import { type Scrape, scrape } from '../support/scrape.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { until } from '../support/until.ts'
import { untilHealth } from '../support/wallet.ts'

/** The metrics of a whole gateway, over real sockets. */

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ env: { METRICS_PORT: '0', SLOW_OPERATION_MS: '0' } })
  await untilHealth(gateway.url)
})
afterAll(() => gateway.close())

const metric = (name: string) => `ledger_gateway_${name}`

/** Returns the increase of a series during `act`. */
async function growth(
  act: () => Promise<unknown>,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<number> {
  const before = (await scrape(gateway.metricsUrl)).sum(metric(name), labels)
  await act()
  return (await scrape(gateway.metricsUrl)).sum(metric(name), labels) - before
}

async function untilScrape(condition: (now: Scrape) => boolean): Promise<Scrape> {
  return until(async () => {
    const now = await scrape(gateway.metricsUrl)
    return condition(now) && now
  })
}

describe('the metrics are served', () => {
  test('only on a separate port', async () => {
    expect(new URL(gateway.metricsUrl).port).not.toBe(new URL(gateway.url).port)
    expect((await rest(`${gateway.url}/metrics`)).status).toBe(404)
    const other = await fetch(new URL('/other', gateway.metricsUrl))
    expect([other.status, await other.text()]).toEqual([404, 'path: expected /metrics\n'])
    const posted = await fetch(gateway.metricsUrl, { method: 'POST' })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('only if METRICS_PORT is set', async () => {
    const plain = await startGateway()
    expect(plain.metricsUrl).toBe('')
    await plain.close()
  })

  test('separately for each gateway of a process', async () => {
    const other = await startGateway({ env: { METRICS_PORT: '0' } })
    await graphql(gateway.url, 'query OfOne { health { term } }')
    const operations = (await scrape(other.metricsUrl)).labels(
      metric('operation_seconds_count'),
      'operation',
    )
    expect(operations).not.toContain('OfOne')
    await other.close()
  })
})

describe('requests', () => {
  test('are timed by route and status, and never by path', async () => {
    const labels = { method: 'GET', route: '/api/core/v3/blocks/{blockId}', status: '404' }
    const id = `0x${'00'.repeat(36)}`
    const ask = () => rest(`${gateway.url}/api/core/v3/blocks/${id}`)
    expect(await growth(ask, 'request_seconds_count', labels)).toBe(1)
    const unknown = { route: 'unmatched', status: '404' }
    const wander = () => rest(`${gateway.url}/some/where`)
    expect(await growth(wander, 'request_seconds_count', unknown)).toBe(1)
  })

  test('that are rejected are counted by error code', async () => {
    const wander = () => rest(`${gateway.url}/some/where`)
    expect(await growth(wander, 'refusals_total', { code: 'PATH_UNKNOWN' })).toBe(1)
    const malformed = () => graphql(gateway.url, '{ health { ')
    expect(await growth(malformed, 'refusals_total', { code: 'GRAPHQL_PARSE_FAILED' })).toBe(1)
    const page = (n: number) =>
      `a${n}: ledgerUpdates(first: 1000) { nodes { output { outputId } } }`
    const dear = `{ ${Array.from({ length: 60 }, (_, n) => page(n)).join(' ')} }`
    const refused = () => graphql(gateway.url, dear)
    expect(await growth(refused, 'refusals_total', { code: 'OPERATION_TOO_COSTLY' })).toBe(1)
  })
})

describe('operations', () => {
  const document = 'query Named { ledgerUpdates(first: 3) { nodes { milestoneIndex } } }'
  const labels = { kind: 'query', operation: 'Named' }

  test('are timed by name when compiled, cached and run by the executor', async () => {
    const http = { ...labels, transport: 'http' }
    // The second uses the cached document, and the third a cached response.
    const often = async () => {
      for (let n = 0; n < 4; n++) await graphql(gateway.url, document)
    }
    expect(await growth(often, 'operation_seconds_count', http)).toBe(4)
    const executed = () => graphql(gateway.url, document, {}, { accept: 'application/json;q=0.9' })
    expect(await growth(executed, 'operation_seconds_count', http)).toBe(1)
  })

  test('are timed on WebSockets and event streams', async () => {
    const client = socketClient(gateway.url)
    const ask = async () => {
      for await (const _ of client.iterate({ query: document })) {
      }
    }
    const websocket = { ...labels, transport: 'websocket' }
    expect(await growth(ask, 'operation_seconds_count', websocket)).toBe(1)
    await client.dispose()
    const stream = async () => {
      const url = `${gateway.url}/graphql?query=${encodeURIComponent(document)}`
      await (await fetch(url, { headers: { accept: 'text/event-stream' } })).text()
    }
    const eventStream = { ...labels, transport: 'event-stream' }
    expect(await growth(stream, 'operation_seconds_count', eventStream)).toBe(1)
  })

  test('have the same cost on every transport', async () => {
    const once = () => graphql(gateway.url, document.replaceAll('Named', 'Priced'))
    const cost = await growth(once, 'operation_cost_total', { operation: 'Priced' })
    expect(cost).toBeGreaterThan(20)
    const client = socketClient(gateway.url)
    const ask = async () => {
      for await (const _ of client.iterate({ query: document.replaceAll('Named', 'Priced') })) {
      }
    }
    expect(await growth(ask, 'operation_cost_total', { operation: 'Priced' })).toBe(cost)
    await client.dispose()
  })

  test('with arbitrary names have a bounded number of series', async () => {
    for (let n = 0; n < maxOperationNames + 20; n++) {
      await graphql(gateway.url, `query Stranger${n} { health { term } }`)
    }
    const now = await scrape(gateway.metricsUrl)
    const names = now.labels(metric('operation_seconds_count'), 'operation')
    expect(names).toContain('other')
    expect(names.length).toBeLessThanOrEqual(maxOperationNames + 2)
  })
})

describe('feeds', () => {
  const query = 'subscription Follow { ledgerUpdates { __typename } }'

  test('are counted by transport and state, with the delay of their updates', async () => {
    const client = socketClient(gateway.url)
    const events = client.iterate({ query })
    await events.next()
    const url = `${gateway.url}/graphql?query=${encodeURIComponent(query)}`
    const stream = await openStream(url, { headers: { accept: 'text/event-stream' } })
    const now = await untilScrape(
      (one) =>
        one.sum(metric('followers'), { transport: 'websocket', state: 'live' }) === 1 &&
        one.sum(metric('followers'), { transport: 'event-stream', state: 'live' }) === 1,
    )
    expect(now.sum(metric('connections'), { transport: 'websocket' })).toBe(1)
    expect(now.sum(metric('connections'), { transport: 'event-stream' })).toBe(1)
    expect(now.sum(metric('subscriptions'))).toBe(2)
    const faucet = '{"address":"tst1qqv5avetndkxzgr3jtrswdtz5ze6mag20s0jdqvzk4fwezve8q9vkamkkx0"}'
    const headers = { 'content-type': 'application/json' }
    const response = await rest(`${gateway.url}/api/enqueue`, {
      method: 'POST',
      headers,
      body: faucet,
    })
    expect(response.status).toBe(202)
    const later = await untilScrape((one) => one.sum(metric('feed_delay_seconds_count')) >= 1)
    expect(later.sum(metric('feed_delay_seconds_sum'))).toBeGreaterThan(0)
    expect(later.sum(metric('feed_pages_total'), { from: 'ring' })).toBeGreaterThan(0)
    stream.close()
    await events.return?.()
    await client.dispose()
    await untilScrape((one) => one.sum(metric('followers')) === 0)
  })
})

test('a standby reports no health of the node that another process follows', async () => {
  const upstream = { LEDGER: 'upstream', UPSTREAM_URLS: gateway.url, METRICS_PORT: '0' }
  const first = await startGateway({ env: upstream })
  const second = await startGateway({ env: { ...upstream, DATABASE_URL: first.databaseUrl } })
  try {
    const state = (name: string) => ({ state: name })
    await until(async () => {
      const now = await scrape(first.metricsUrl)
      return now.sum(metric('upstream_state'), state('FOLLOWING')) === 1 && now
    })
    const followed = await scrape(first.metricsUrl)
    const standby = await scrape(second.metricsUrl)
    expect(followed.sum(metric('upstream_node_healthy'))).toBe(1)
    expect(standby.sum(metric('upstream_state'), state('STANDBY'))).toBe(1)
    expect(standby.has(metric('upstream_node_healthy'))).toBe(false)
  } finally {
    await second.close()
    await first.close()
  }
})

describe('a lasting fault', () => {
  test('of two nodes ends when both respond, also if only the first is followed', async () => {
    const hangUp: Spoil = () => 'HANG_UP'
    const nodes = [await startOddNode(gateway.url, passOn), await startOddNode(gateway.url, passOn)]
    const UPSTREAM_URLS = nodes.map(({ url }) => url).join()
    const follower = await startGateway({
      env: { LEDGER: 'upstream', UPSTREAM_URLS, METRICS_PORT: '0' },
    })
    const numbers = (event: string) =>
      follower.logged
        .map((line) => JSON.parse(line))
        .filter((line) => line.event === event)
        .map(({ node }) => node)
    const trouble = async () =>
      (await scrape(follower.metricsUrl)).sum(metric('trouble'), { event: 'node-away' })
    try {
      await untilHealth(follower.url)
      for (const node of nodes) node.spoilBy(hangUp)
      await until(() => numbers('node-away').length === 2, { what: 'two nodes away' })
      nodes[0]?.spoilBy(passOn)
      await until(() => numbers('node-back').length === 1, { what: 'one node back' })
      expect(await trouble()).toBe(1)
      nodes[1]?.spoilBy(passOn)
      await until(() => numbers('node-back').length === 2, { what: 'the other node back' })
      expect(await trouble()).toBe(0)
      expect(numbers('node-back')).toEqual([1, 2])
    } finally {
      await follower.close()
      for (const node of nodes) await node.close()
    }
  })

  test('of two files of tokens ends when both are readable, also if they are back unchanged', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-metrics-'))
    const [kept, revoked] = [join(folder, 'kept.txt'), join(folder, 'revoked.txt')]
    const keys = join(folder, 'keys.json')
    writeFileSync(kept, 'jti one\n')
    symlinkSync(kept, revoked)
    const { publicKey } = generateKeyPairSync('ed25519')
    const key = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'EdDSA' }
    writeFileSync(keys, JSON.stringify({ keys: [key] }))
    const ofKeys = { JWT_JWKS: keys, JWT_ISSUER: 'https://id.example', JWT_AUDIENCE: 'gateway' }
    const env = { METRICS_PORT: '0', JWT_REVOCATIONS: revoked, ...ofKeys }
    const other = await startGateway({ env })
    try {
      const fault = { event: 'token-file-unusable' }
      const isLasting = async () =>
        (await scrape(other.metricsUrl)).sum(metric('trouble'), fault) === 1
      const read = () => other.logged.filter((line) => line.includes('"token-file-read"')).length
      rmSync(revoked)
      renameSync(keys, `${keys}.away`)
      await until(() => other.logged.filter((line) => line.includes(fault.event)).length === 2)
      expect(await isLasting()).toBe(true)
      symlinkSync(kept, revoked)
      await until(() => read() === 1, { what: 'the file of revocations is read again' })
      expect(await isLasting()).toBe(true)
      renameSync(`${keys}.away`, keys)
      await until(() => read() === 2, { what: 'the key set is read again' })
      expect(await isLasting()).toBe(false)
    } finally {
      await other.close()
      rmSync(folder, { recursive: true })
    }
  })
})

describe('the metrics of the ledger', () => {
  test('show its role, its slots and the work of the writer', async () => {
    const now = await untilScrape((one) => one.sum(metric('commit_seconds_count')) > 0)
    expect(now.sum(metric('writer'))).toBe(1)
    expect(now.sum(metric('lease_term'))).toBeGreaterThan(0)
    expect(now.sum(metric('healthy'))).toBe(1)
    expect(now.sum(metric('unavailable'))).toBe(0)
    expect(now.sum(metric('slot'), { of: 'committed' })).toBeGreaterThan(0)
    expect(now.sum(metric('slots_behind'))).toBeLessThan(5)
    expect(now.sum(metric('booked_blocks_total'))).toBeGreaterThan(0)
    expect(now.sum(metric('signature_checks_total'), { checker: 'fast' })).toBeGreaterThan(0)
    const committed = { side: 'write', call: 'commitSlots' }
    expect(now.sum(metric('store_call_seconds_count'), committed)).toBeGreaterThan(0)
    expect(now.sum(metric('trouble'))).toBe(0)
    const others = ['upstream_newest_slot', 'upstream_node_healthy', 'upstream_state']
    expect(others.filter((name) => now.has(metric(name)))).toEqual([])
  })
})
