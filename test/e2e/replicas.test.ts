import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type FeedUpdate, follow } from '../../src/client/follow.ts'
import { keypairOf } from '../../src/protocol/keys.ts'
import { chainIdOf } from '../support/chain-ids.ts'
import { type HaltingProxy, openHaltingProxy } from '../support/halting-proxy.ts'
import { type PostgresqlServer, startPostgresql } from '../support/postgresql-server.ts'
import { restJson } from '../support/rest.ts'
import { ask, type Standby, startStandby } from '../support/standby.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { openSwitch } from '../support/switch.ts'
import { until } from '../support/until.ts'
import { addressOf, blockOf, offerOf, taggedData, untilHealth, user } from '../support/wallet.ts'

/** Gateways that read from real standbys of a real PostgreSQL while another gateway writes. */

const counted = ['fsync=off', 'shared_preload_libraries=pg_stat_statements']

let primary: PostgresqlServer
let near: Standby
let late: Standby
let proxy: HaltingProxy
let writer: TestGateway
let gateway: TestGateway | undefined

beforeAll(async () => {
  primary = await startPostgresql(counted)
  writer = await startGateway({ env: { DATABASE_URL: primary.url } })
  await untilHealth(writer.url)
  await ask(primary.url, 'CREATE SCHEMA stats')
  await ask(primary.url, 'CREATE EXTENSION pg_stat_statements SCHEMA stats')
  near = await startStandby(primary.url, { settings: counted })
  late = await startStandby(primary.url, {
    settings: ['fsync=off', 'recovery_min_apply_delay=2s'],
  })
  proxy = await openHaltingProxy(Number(new URL(near.url).port))
})
afterEach(async () => {
  await gateway?.close()
  gateway = undefined
})
afterAll(async () => {
  await writer.close()
  await proxy.close()
  await Promise.all([near.stop(), late.stop()])
  await primary.stop()
})

/** Starts a gateway with some replicas and waits until it is healthy. */
async function startReading(...urls: readonly string[]): Promise<TestGateway> {
  const env = { DATABASE_URL: primary.url, READ_DATABASE_URLS: urls.join(',') }
  gateway = await startGateway({ env })
  await untilHealth(gateway.url)
  return gateway
}

function proxied(url: string): string {
  const other = new URL(url)
  other.port = `${proxy.port}`
  return other.href
}

const serverOf = (url: string) => `${new URL(url).host}${new URL(url).pathname}`

function eventsOf(one: TestGateway, ...names: readonly string[]) {
  return one.logged.map((line) => JSON.parse(line)).filter(({ event }) => names.includes(event))
}

/** Returns the server that a gateway reads from, according to its log. */
function readsFrom(one: TestGateway): string | undefined {
  return eventsOf(one, 'reads-moved').at(-1)?.to
}

async function query(one: TestGateway, text: string) {
  const response = await fetch(`${one.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: text }),
  })
  const { data, errors } = await response.json()
  expect(errors).toBeUndefined()
  return data
}

/** Submits a block to a gateway and returns its id. */
async function submit(one: TestGateway): Promise<string> {
  const { bytes } = blockOf(await offerOf(one.url), taggedData('0x01', `0x${Date.now()}0`))
  const { blockId } = await restJson(`${one.url}/api/core/v3/blocks`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.iota.serializer-v2' },
    body: bytes,
  })
  return blockId
}

/** Pays an address from the faucet of the development network. */
async function pay(one: TestGateway, address: string): Promise<void> {
  const { status } = await fetch(`${one.url}/api/enqueue`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ address }),
  })
  expect(status).toBe(202)
}

const recordPath = `/v1/chains/${chainIdOf(1)}/chainrecord`

/** Sets the record of a chain. */
async function set(one: TestGateway, headers: Record<string, string>): Promise<Response> {
  const authorization = `Bearer ${await one.token('chain-record:write')}`
  return await fetch(`${one.url}${recordPath}`, {
    method: 'POST',
    headers: { ...headers, authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ accessNodes: [], isActive: true }),
  })
}

/** Returns the number of calls of each statement on a server. */
async function callsAt(url: string): Promise<ReadonlyMap<string, number>> {
  const text = await ask(
    url,
    "SELECT coalesce(json_agg(json_build_array(query, calls))::text, '[]') FROM stats.pg_stat_statements",
  )
  return new Map(JSON.parse(text))
}

describe('a gateway with a replica', () => {
  test('stops using it if its URL also leads to another server', async () => {
    const place = await openSwitch(Number(new URL(near.url).port))
    const url = new URL(near.url)
    url.port = `${place.port}`
    const reading = await startReading(url.href)
    expect(readsFrom(reading)).toBe(serverOf(url.href))
    place.spreadTo(Number(new URL(late.url).port))
    const reason = 'its URL leads to several servers, or it was restarted'
    await until(async () => {
      // Many requests at once open further connections.
      const heights = Array.from(
        { length: 20 },
        (_, i) => `{ blocks(first: ${i + 1}) { edges { node { id } } } }`,
      )
      await Promise.all(heights.map((text) => query(reading, text)))
      return eventsOf(reading, 'replica-left-out').some((line) => line.reason === reason)
    })
    await place.close()
  })

  test('sends the reads of clients to it and none to the primary', async () => {
    const reading = await startReading(near.url)
    expect(readsFrom(reading)).toBe(serverOf(near.url))
    await ask(near.url, 'SELECT stats.pg_stat_statements_reset()')
    await ask(primary.url, 'SELECT stats.pg_stat_statements_reset()')
    const address = addressOf(user(0))
    const times = 40
    for (let i = 0; i < times; i++) {
      await query(
        reading,
        `{ ledgerUpdates(address: "${address}", first: ${i + 1}) { edges { node { outputId } } }
           blocks(first: ${i + 1}) { edges { node { id } } } }`,
      )
      await restJson(`${reading.url}/v1/chains`)
    }
    const atReplica = await callsAt(near.url)
    const atPrimary = await callsAt(primary.url)
    // A statement with its limit in the text counts as a statement of its own.
    const often = [...atReplica].filter(([, calls]) => calls > times / 2).map(([text]) => text)
    const reads = often.filter((text) => /ledger_updates|FROM "?blocks|chain_record/.test(text))
    expect(reads.length).toBeGreaterThanOrEqual(3)
    expect(reads.map((text) => atPrimary.get(text) ?? 0)).toEqual(reads.map(() => 0))
  })

  test('serves an acknowledged block at once, even if the replica is two seconds late', async () => {
    const reading = await startReading(late.url)
    expect(readsFrom(reading)).toBe(serverOf(late.url))
    const blockId = await submit(reading)
    const { metadata } = await restJson(`${reading.url}/api/core/v3/blocks/${blockId}/full`)
    expect(metadata.blockId).toBe(blockId)
    expect(readsFrom(reading)).toBe(serverOf(primary.url))
    expect(eventsOf(reading, 'history-rewound')).toEqual([])
  })

  test('compares If-Match with the newest version and serves the version that it has set', async () => {
    const reading = await startReading(late.url)
    expect((await set(writer, {})).status).toBe(201)
    expect((await set(writer, {})).status).toBe(201)
    // The replica has neither version.
    expect(readsFrom(reading)).toBe(serverOf(late.url))
    expect((await set(reading, { 'if-match': '"1"' })).status).toBe(412)
    expect((await set(reading, { 'if-match': '"2"' })).status).toBe(201)
    const { version } = await restJson(`${reading.url}${recordPath}`)
    expect(version).toBe(3)
  })

  test('serves a cursor and a slot of another gateway that the replica does not have yet', async () => {
    const reading = await startReading(late.url)
    const address = addressOf(keypairOf(randomBytes(32)))
    const tipQuery = `{ milestone { index } ledgerUpdates(address: "${address}") { tipCursor totalCount } }`
    const former = await query(writer, tipQuery)
    await pay(writer, address)
    const known = await until(async () => {
      const now = await query(writer, tipQuery)
      return now.ledgerUpdates.totalCount > former.ledgerUpdates.totalCount && now
    })
    const { index } = known.milestone
    const { tipCursor: after, totalCount } = known.ledgerUpdates
    expect(readsFrom(reading)).toBe(serverOf(late.url))
    const found = await query(
      reading,
      `{ milestone(index: ${index}) { index }
         ledgerUpdates(address: "${address}", after: "${after}") { totalCount } }`,
    )
    expect(found.milestone).toEqual({ index })
    expect(found.ledgerUpdates.totalCount).toBe(totalCount)
  })

  test('sends each update to a feed once, as soon as the replica has it', async () => {
    const reading = await startReading(late.url)
    const address = addressOf(keypairOf(randomBytes(32)))
    const updates: FeedUpdate[] = []
    const ending = new AbortController()
    const { signal } = ending
    let isOpen = false
    const following = (async () => {
      for await (const event of follow({ url: reading.url, addresses: [address], signal })) {
        isOpen = true
        if (event.__typename === 'LedgerUpdateBatch') updates.push(...event.updates)
      }
    })()
    await until(() => isOpen)
    await pay(writer, address)
    await until(() => updates.length > 0)
    expect(readsFrom(reading)).toBe(serverOf(late.url))
    ending.abort()
    await following
    expect(updates).toHaveLength(1)
    expect(eventsOf(reading, 'log-replaced')).toEqual([])
  })
})

describe('a replica that does not respond', () => {
  test('is not used until it responds again, and running reads are answered', async () => {
    const reading = await startReading(proxied(near.url))
    const replica = serverOf(proxied(near.url))
    expect(readsFrom(reading)).toBe(replica)
    proxy.halt()
    const text = '{ blocks(first: 3) { edges { node { id } } } }'
    const answers = await Promise.all([
      query(reading, text),
      restJson(`${reading.url}/v1/chains`),
      query(reading, text),
    ])
    expect(answers[0].blocks.edges.length).toBeGreaterThan(0)
    expect(readsFrom(reading)).toBe(serverOf(primary.url))
    expect(eventsOf(reading, 'replica-left-out')).toMatchObject([{ level: 'warn', replica }])
    expect((await fetch(`${reading.url}/health/ready`)).status).toBe(200)
    proxy.resume()
    await until(() => readsFrom(reading) === replica)
    expect(eventsOf(reading, 'replica-used-again', 'replicas-back')).toHaveLength(2)
    expect(eventsOf(reading, 'log-replaced', 'database-away')).toEqual([])
  })

  test('is replaced by another one', async () => {
    const own = await startStandby(primary.url, { settings: ['fsync=off'] })
    // The order of the replicas depends on the process.
    const reading = await startReading(own.url, late.url)
    if (readsFrom(reading) !== serverOf(own.url)) await submit(reading)
    await until(() => readsFrom(reading) === serverOf(own.url))
    await own.crash()
    await query(reading, '{ blocks(first: 3) { edges { node { id } } } }')
    expect(readsFrom(reading)).not.toBe(serverOf(own.url))
    await until(() => eventsOf(reading, 'replica-left-out').length > 0)
    await own.stop()
  })
})

test('a promoted replica is no longer used, because it receives no updates', async () => {
  const own = await startStandby(primary.url, { settings: ['fsync=off'] })
  const reading = await startReading(own.url)
  expect(readsFrom(reading)).toBe(serverOf(own.url))
  await own.promote()
  await until(() => readsFrom(reading) === serverOf(primary.url))
  expect(eventsOf(reading, 'replica-left-out')).toMatchObject([
    { reason: 'it follows no primary: it was promoted, or is one' },
  ])
  await own.stop()
})

test('a gateway whose primary is away serves reads and reports it', async () => {
  const reading = await startReading(near.url)
  const { blocks } = await query(reading, '{ blocks(first: 1) { edges { node { blockId } } } }')
  const offer = await offerOf(reading.url)
  await primary.halt('crash')
  const reasons = async () => (await (await fetch(`${reading.url}/health/ready`)).json()).reasons
  await until(async () => (await reasons()).includes('primary away'))
  const [{ node }] = blocks.edges
  const found = await query(reading, `{ block(id: "${node.blockId}") { blockId } }`)
  expect(found.block.blockId).toBe(node.blockId)
  expect(readsFrom(reading)).toBe(serverOf(near.url))
  const { bytes } = blockOf(offer, taggedData('0x01', '0x02'))
  const refused = await fetch(`${reading.url}/api/core/v3/blocks`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.iota.serializer-v2' },
    body: bytes,
  })
  expect(refused.status).toBe(503)
  await primary.resume()
  await untilHealth(reading.url)
})
