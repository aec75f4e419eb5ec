import { createClient } from 'graphql-ws'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { present } from '../../src/lib/assert.ts'
import { bytesToHex } from '../../src/lib/hex.ts'
import { graphql } from '../support/client.ts'
import { type PostgresqlServer, startPostgresql } from '../support/postgresql-server.ts'
import { rest, restJson } from '../support/rest.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { acceptedId, post, refusal, submit } from '../support/submit.ts'
import { until } from '../support/until.ts'
import {
  addressOf,
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  slotNow,
  taggedData,
  untilHealth,
  user,
} from '../support/wallet.ts'

/** A gateway whose database becomes unavailable and returns. */

let server: PostgresqlServer
let gateway: TestGateway

beforeAll(async () => {
  server = await startPostgresql()
  gateway = await startGateway({ env: { DATABASE_URL: server.url } })
  await untilHealth(gateway.url)
})
afterAll(async () => {
  await gateway.close()
  await server.stop()
})

const away =
  'the database is temporarily unreachable, and the request may have been executed; try again'

test.each(['in order', 'crash'] as const)(
  'a gateway answers 503 on every transport while its database is away (%s), and continues afterwards',
  async (how) => {
    const { url, logged } = gateway
    const linesBefore = logged.length
    const client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    })
    const feeds = subscriptions.map((query) => client.iterate({ query }))
    const first = await Promise.all(feeds.map((feed) => feed.next()))
    expect(first.map(({ done }) => done)).toEqual(subscriptions.map(() => false))
    const key = user(how === 'crash' ? 3 : 2)
    const [spend] = await genesisOutputs(url, key)
    const { bytes, blockId } = blockOf(await offerOf(url), taggedData('0x', '0x03'))

    await server.halt(how)
    await untilHealth(url, 503)
    const { status } = await restJson(`${url}/api/core/v3/info`)
    expect(status).toMatchObject({ isHealthy: false, isNetworkHealthy: false })
    for (const path of ['/api/core/v3/network/health', '/api/indexer/v2/health']) {
      expect((await rest(url + path)).status).toBe(503)
    }
    const { reasons } = await (await rest(`${url}/health/ready`)).json()
    expect(reasons).toEqual(expect.arrayContaining(['database away']))
    expect((await rest(`${url}/health/live`)).status).toBe(200)
    for (const path of [`/api/core/v3/blocks/${blockId}`, '/v1/chains']) {
      const response = await rest(url + path)
      expect(response.headers.get('retry-after')).toBe('1')
      expect(await refusal(response)).toEqual([503, away])
    }
    expect(await refusal(await post(url, bytes))).toEqual([503, away])
    const error = { message: away, code: 'STORE_AWAY' }
    expect(await submit(url, { bytes: bytesToHex(bytes) })).toMatchObject(error)
    const { errors } = await graphql(url, `{ block(id: "${blockId}") { slot } }`)
    expect(errors).toMatchObject([{ message: away, extensions: { code: 'STORE_AWAY' } }])

    await server.resume()
    // On a busy machine it can be unhealthy again for a moment: a slot that is more than ten seconds late, or a late renewal of the lease.
    await until(async () => (await restJson(`${url}/api/core/v3/info`)).status.isHealthy)
    const offer = await offerOf(url)
    const payment = paymentOf(offer.network, {
      spend: present(spend, 'genesis output'),
      key,
      outputs: [ownedBy(key, 1_000_000_000n)],
      creationSlot: slotNow(offer.network),
    })
    const paying = blockOf(offer, payment.payload)
    expect(await acceptedId(await post(url, paying.bytes))).toBe(paying.blockId)
    const [updates] = feeds
    for (let isReceived = false; !isReceived; ) {
      const { value } = await present(updates, 'a feed').next()
      isReceived = JSON.stringify(value).includes(present(payment.created[0], 'an output'))
    }
    for (const feed of feeds.slice(1)) expect((await feed.next()).done).toBe(false)
    await client.dispose()
    const events = logged.slice(linesBefore).map((line) => JSON.parse(line))
    await untilBack(linesBefore)
    expect(absences(linesBefore)).toEqual(['database-away', 'database-back'])
    expect(events.filter(({ level }) => level === 'error').map(({ event }) => event)).toEqual([
      'database-away',
    ])
    expect(await restJson(`${url}/health`)).toMatchObject({ role: 'writer', term: 1 })
  },
  60_000,
)

test.each(['in order', 'crash'] as const)(
  'a gateway under load logs an absent database once (%s), and still serves what it has in memory',
  async (how) => {
    const { url, logged } = gateway
    const { header } = await offerOf(url)
    const linesBefore = logged.length
    const commitment = `/api/core/v3/commitments/${header.slotCommitmentId}`
    const counters = { cached: { ok: 0, away: 0 }, uncached: { ok: 0, away: 0 } }
    const refusals: string[] = []
    let isOver = false
    /** Sends requests without a pause and counts the responses by status. */
    async function request(counts: { ok: number; away: number }, path: string): Promise<void> {
      while (!isOver) {
        const answer = await fetch(url + path)
        expect([200, 503]).toContain(answer.status)
        const text = await answer.text()
        if (answer.ok) counts.ok++
        else counts.away++
        if (!answer.ok && path === commitment) refusals.push(text)
      }
    }
    const clients = [...Array(4).keys()].flatMap(() => [
      request(counters.cached, commitment),
      request(counters.uncached, '/v1/chains'),
    ])
    const isWarm = () => counters.cached.ok >= 30 && counters.uncached.ok >= 30
    await until(isWarm, { what: '30 responses of each kind' })
    await server.halt(how)
    await untilHealth(url, 503)
    const { ok: whileAway } = counters.cached
    const { away: before } = counters.uncached
    await until(() => counters.cached.ok >= whileAway + 30 && counters.uncached.away >= before + 30)
    await server.resume()
    await untilBack(linesBefore)
    const { ok: back } = counters.uncached
    await until(() => counters.uncached.ok >= back + 30)
    isOver = true
    await Promise.all(clients)
    expect(refusals, 'cached responses are served all the time').toEqual([])
    expect(absences(linesBefore)).toEqual(['database-away', 'database-back'])
  },
  60_000,
)

/** Returns the events about an unavailable database, from a line of the log on. */
function absences(from: number): readonly string[] {
  return gateway.logged
    .slice(from)
    .map((line) => JSON.parse(line).event)
    .filter((event) => event === 'database-away' || event === 'database-back')
}

async function untilBack(from: number): Promise<void> {
  await until(() => absences(from).includes('database-back'))
}

const subscriptions = [
  `subscription { ledgerUpdates(addresses: ["${addressOf(user(2))}", "${addressOf(user(3))}"]) { ... on LedgerUpdateBatch { updates { outputId } } } }`,
  'subscription { milestones { index } }',
] as const
