import type { IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { type Client, createClient } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { decodeCursor } from '../../src/feed/cursor.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { slotOf } from '../support/feed-log.ts'
import { addresses, type ModelRow, rowsOf, slotEntries } from '../support/log-store.ts'
import { rest } from '../support/rest.ts'
import { addressText, type ServedLog, serveLog } from '../support/serve-log.ts'
import { createSettableClock } from '../support/settable-clock.ts'
import { until } from '../support/until.ts'

const [owner = '0x', other = '0x', third = '0x'] = addresses

const feedQuery = /* GraphQL */ `
  subscription Feed($addresses: [String!], $after: String, $classes: [UpdateClass!]) {
    ledgerUpdates(addresses: $addresses, after: $after, classes: $classes) {
      __typename
      ... on FeedOpened { cursor mode oldestCursor tipCursor limits { addresses updatesPerBatch } start { address class ordinal historyHash } }
      ... on LedgerUpdateBatch {
        cursor previousCursor milestoneIndex
        history { address class firstOrdinal lastOrdinal historyHash }
        updates { cursor ordinal address class outputId isSpent milestoneIndex historyHash }
      }
      ... on FeedProgress { cursor previousCursor mode milestoneIndex }
      ... on FeedNotice { topic cursor closesWithinMs expiresAt }
      ... on FeedReset { reason }
    }
  }
`

interface FeedEvent {
  readonly __typename: string
  readonly cursor: string
  readonly previousCursor?: string
  readonly history?: readonly object[]
  readonly updates?: readonly {
    readonly ordinal: string
    readonly outputId: string
    readonly address: string
    readonly historyHash: string
  }[]
}

const noEvent: FeedEvent = { __typename: 'none', cursor: '' }

function open(url: string, connectionParams: Record<string, unknown> = {}): Client {
  const webSocketUrl = `${url.replace('http', 'ws')}/graphql`
  return createClient({
    url: webSocketUrl,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams,
    onNonLazyError: () => {},
  })
}

function subscribe(client: Client, variables: Record<string, unknown>) {
  return client.iterate<{ ledgerUpdates: FeedEvent }>({ query: feedQuery, variables })
}

type Subscription = ReturnType<typeof subscribe>

async function nextOf(feed: Subscription): Promise<FeedEvent | undefined> {
  return (await feed.next()).value?.data?.ledgerUpdates
}

describe('subscription ledgerUpdates', () => {
  let gateway: ServedLog
  let client: Client
  beforeAll(async () => {
    gateway = await serveLog()
    await gateway.commit(...fc.sample(slotEntries, { seed: 7, numRuns: 12 }))
    await gateway.known()
    client = open(gateway.url)
  })
  afterAll(async () => {
    await client.dispose()
    await gateway.close()
  })

  function cursorAt(seq: number): string {
    return gateway.log.cursorAt(seq)
  }

  test('opens, replays from the cursor, and continues live without a gap or a repeat (1, 2, 6)', async () => {
    const feed = subscribe(client, { addresses: [addressText(owner)], after: cursorAt(3) })
    const past = rowsOf(gateway.log.rows, owner, 'OWNED').filter((row) => row.seq <= 3)
    expect(await nextOf(feed)).toMatchObject({
      __typename: 'FeedOpened',
      cursor: cursorAt(3),
      oldestCursor: cursorAt(0),
      limits: { addresses: 100, updatesPerBatch: 100 },
      start: [{ address: addressText(owner), class: 'OWNED', ordinal: String(past.length) }],
    })
    const received: unknown[] = []
    const extra = fc.sample(slotEntries, { seed: 8, numRuns: 8 })
    const expected = () => rowsOf(gateway.log.rows, owner, 'OWNED').filter((row) => row.seq > 3)
    let last = cursorAt(3)
    for (let slot = 0; slot < extra.length || received.length < expected().length; slot++) {
      const entries = extra[slot]
      if (entries !== undefined) await gateway.commit(entries)
      while (received.length < expected().length) {
        const event = await nextOf(feed)
        expect(event?.previousCursor).toBe(last)
        received.push(...(event?.updates ?? []))
        last = event?.cursor ?? last
      }
    }
    expect(received).toMatchObject(expected().map(partsOf))
    const reached = decodeCursor(last, 'cursor')
    expect(reached.ok && reached.value.seq).toBeGreaterThanOrEqual(expected().at(-1)?.seq ?? 0)
    await feed.return?.()
  })

  test('sends the first and last ordinal and the history hash of each address in a batch (13)', async () => {
    const both = [addressText(owner), addressText(other)]
    const feed = subscribe(client, { addresses: both })
    await feed.next()
    await gateway.commit(slotOf(owner, other, owner))
    const batch = (await nextOf(feed)) ?? noEvent
    const last = (text: string) =>
      batch.updates?.findLast(({ address }) => address === text)?.historyHash
    const of = (address: typeof owner) => rowsOf(gateway.log.rows, address, 'OWNED').length
    expect(batch.history).toEqual(
      expect.arrayContaining([
        {
          address: both[0],
          class: 'OWNED',
          firstOrdinal: String(of(owner) - 1),
          lastOrdinal: String(of(owner)),
          historyHash: last(both[0] ?? ''),
        },
        {
          address: both[1],
          class: 'OWNED',
          firstOrdinal: String(of(other)),
          lastOrdinal: String(of(other)),
          historyHash: last(both[1] ?? ''),
        },
      ]),
    )
    const query = /* GraphQL */ `
      query ($address: String!, $ordinal: UInt64!) {
        ledgerUpdateAt(address: $address, ordinal: $ordinal) { ordinal historyHash }
      }
    `
    for (const ordinal of [1, of(owner) - 1, of(owner)]) {
      const { data } = await gateway.ask(query, { address: both[0], ordinal: String(ordinal) })
      expect(data.ledgerUpdateAt.ordinal).toBe(String(ordinal))
      if (ordinal === of(owner)) expect(data.ledgerUpdateAt.historyHash).toBe(last(both[0] ?? ''))
    }
    for (const ordinal of [0, of(owner) + 1]) {
      const { data } = await gateway.ask(query, { address: both[0], ordinal: String(ordinal) })
      expect(data.ledgerUpdateAt).toBeNull()
    }
    await feed.return?.()
  })

  test('shares one stream among all equal subscriptions, whatever their cursors (10)', async () => {
    await until(() => gateway.feed.hub.counts().feeds === 0)
    const clients = [open(gateway.url), open(gateway.url), client]
    const wanted = { addresses: [addressText(third)] }
    const feeds = [0, 1, gateway.log.rows.length].map((seq, i) =>
      subscribe(clients[i] ?? client, { ...wanted, after: cursorAt(seq) }),
    )
    const another = subscribe(client, { addresses: [addressText(owner)] })
    for (const feed of [...feeds, another]) await feed.next()
    await until(() => gateway.feed.hub.counts().live === 4)
    expect(gateway.feed.hub.counts()).toMatchObject({ feeds: 4, streams: 2 })
    await gateway.commit(slotOf(third))
    const newest = rowsOf(gateway.log.rows, third, 'OWNED').at(-1)?.outputId
    for (const feed of feeds) {
      for (let hasNewest = false; !hasNewest; ) {
        const { updates = [] } = (await nextOf(feed)) ?? {}
        hasNewest = updates.at(-1)?.outputId === newest
      }
    }
    for (const feed of [...feeds, another]) await feed.return?.()
    await until(() => gateway.feed.hub.counts().feeds === 0)
    for (const one of clients.slice(0, 2)) await one.dispose()
  })

  test('ends its subscription when the client disconnects', async () => {
    const leaving = open(gateway.url)
    const feed = subscribe(leaving, {})
    await feed.next()
    expect(gateway.feed.hub.counts().feeds).toBe(1)
    leaving.terminate()
    await until(() => gateway.feed.hub.counts().feeds === 0)
  })

  test('ends a feed that is completed while it opens, also if its id is used again at once', async () => {
    const own = await serveLog()
    await own.commit(slotOf(owner, other))
    await own.known()
    // The first feed opens only when the client has completed it and used its id again.
    const { read } = own.log.store
    const { milestone } = read
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let reads = 0
    Object.assign(read, {
      milestone: async (slot: number) => {
        reads++
        if (reads === 1) await released
        return await milestone(slot)
      },
    })
    const socket = new WebSocket(`${own.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
    const received: string[] = []
    socket.on('message', (bytes) => received.push(String(bytes)))
    const send = (message: object) => socket.send(JSON.stringify(message))
    const query = `subscription ($of: [String!]) {
      ledgerUpdates(addresses: $of, afterMilestone: 0) {
        ... on LedgerUpdateBatch { updates { address } }
      }
    }`
    const follow = (address: typeof owner) =>
      send({
        type: 'subscribe',
        id: '1',
        payload: { query, variables: { of: [addressText(address)] } },
      })
    socket.on('open', () => send({ type: 'connection_init' }))
    await until(() => received.length === 1)
    follow(owner)
    await until(() => reads === 1)
    send({ type: 'complete', id: '1' })
    follow(other)
    send({ type: 'ping' })
    // The gateway has handled the earlier messages when it answers a later request.
    await own.ask('{ __typename }')
    release()
    await until(() => received.includes('{"type":"pong"}'))
    await until(() => received.some((text) => text.includes(addressText(other))))
    await until(() => own.feed.hub.counts().feeds === 1)
    socket.terminate()
    await until(() => own.feed.hub.counts().feeds === 0)
    await own.close()
  })

  test('waits with its first event while the database is away, instead of ending (6)', async () => {
    let isAway = true
    let failed = 0
    const own = await serveLog({
      settings: { tickMs: 5 },
      changed: (read) => ({
        ...read,
        updates: (range) => {
          if (!isAway) return read.updates(range)
          failed++
          return Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }))
        },
      }),
    })
    const one = open(own.url)
    const first = nextOf(subscribe(one, { addresses: [addressText(owner)] }))
    await until(() => failed > 1)
    isAway = false
    expect(await first).toMatchObject({ __typename: 'FeedOpened', start: [{ ordinal: '0' }] })
    await one.dispose()
    await own.close()
  })

  const refused = [
    ['another network', { addresses: [addressText(owner, 'iota')] }, 'ADDRESS_OF_ANOTHER_NETWORK'],
    ['no address', { addresses: [] }, 'FEED_ADDRESS_COUNT'],
    ['too many addresses', { addresses: Array(101).fill('no address') }, 'FEED_ADDRESS_COUNT'],
    ['a malformed cursor', { after: 'x' }, 'CURSOR_MALFORMED'],
    ['a variable of the wrong type', { after: 1 }, 'BAD_USER_INPUT'],
  ] as const
  test.each(refused)(
    'refuses %s without closing the socket (5)',
    async (_name, variables, code) => {
      const feed = subscribe(client, variables)
      const response = await feed.next()
      expect(response.value?.errors).toMatchObject([{ extensions: { code } }])
      const next = subscribe(client, {})
      expect((await nextOf(next))?.__typename).toBe('FeedOpened')
      await next.return?.()
    },
  )

  test('sends the same events for a selection in a fragment', async () => {
    const query = /* GraphQL */ `
      subscription ($after: String) { ...F }
      fragment F on Subscription {
        updates: ledgerUpdates(after: $after) { __typename ... on LedgerUpdateBatch { cursor } }
      }
    `
    const feed = client.iterate({ query, variables: { after: cursorAt(0) } })
    expect((await feed.next()).value?.data).toEqual({ updates: { __typename: 'FeedOpened' } })
    expect((await feed.next()).value?.data?.updates).toMatchObject({
      __typename: 'LedgerUpdateBatch',
    })
    expect(gateway.feed.hub.counts().feeds).toBe(1)
    await feed.return?.()
    await until(() => gateway.feed.hub.counts().feeds === 0)
  })
})

describe('limits are checked before any work (14)', () => {
  test('an upgrade over the limit of connections is refused until another client disconnects', async () => {
    const gateway = await serveLog({ limits: { connections: 1 } })
    const one = open(gateway.url)
    const feed = subscribe(one, {})
    await feed.next()
    const second = new WebSocket(
      `${gateway.url.replace('http', 'ws')}/graphql`,
      'graphql-transport-ws',
    )
    const response = await new Promise<IncomingMessage>((resolve) =>
      second.once('unexpected-response', (_request, response) => resolve(response)),
    )
    expect(response.statusCode).toBe(503)
    expect(response.headers).toMatchObject({ 'retry-after': '1' })
    await one.dispose()
    await until(() => gateway.feed.hub.counts().feeds === 0)
    const third = open(gateway.url)
    expect((await nextOf(subscribe(third, {})))?.__typename).toBe('FeedOpened')
    await third.dispose()
    await gateway.close()
  })

  const scopes = [
    ['of one connection', { subscriptionsPerConnection: 1 }, 'connection'],
    ['of all connections', { subscriptions: 1 }, 'server'],
  ] as const
  test.each(scopes)('a subscription over the limit %s is refused', async (_name, limits, scope) => {
    const gateway = await serveLog({ limits })
    const client = open(gateway.url)
    const feed = subscribe(client, {})
    await feed.next()
    const over = subscribe(client, {}).next()
    const extensions = { code: 'SUBSCRIPTION_LIMIT', scope, limit: 1 }
    await expect(over).rejects.toMatchObject([{ extensions }])
    await feed.return?.()
    await until(() => gateway.feed.hub.counts().feeds === 0)
    expect((await subscribe(client, {}).next()).value?.data).toBeDefined()
    await client.dispose()
    await gateway.close()
  })
})

describe('tokens (15)', () => {
  test('that are invalid are refused with a code that lets the client reconnect', async () => {
    const gateway = await serveLog()
    const client = open(gateway.url, { Authorization: 'Bearer none' })
    const failure = await subscribe(client, {})
      .next()
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 4403, reason: 'TOKEN_MALFORMED' })
    await gateway.close()
  })

  test('that expire are announced to every feed, also to a later one, and then the connection is closed', async () => {
    const clock = createSettableClock(systemClock.nowNs())
    const gateway = await serveLog({ clock })
    const token = await gateway.token()
    const client = open(gateway.url, { Authorization: token })
    const feed = subscribe(client, {})
    const opened = await nextOf(feed)
    clock.advance(3_590_000_000_000n)
    expect(await nextOf(feed)).toMatchObject({
      __typename: 'FeedNotice',
      topic: 'TOKEN_EXPIRING',
      cursor: opened?.cursor,
      expiresAt: Number(clock.nowNs() / 1_000_000_000n) + 10,
    })
    const late = subscribe(client, { addresses: [addressText(owner)] })
    await nextOf(late)
    expect(await nextOf(late)).toMatchObject({ topic: 'TOKEN_EXPIRING' })
    const end = feed.next().catch((error: unknown) => error)
    clock.advance(11_000_000_000n)
    expect(await end).toMatchObject({ code: 4403, reason: 'TOKEN_EXPIRED' })
    await gateway.close()
  })
})

test('a gateway that stops is not ready, sends each feed its cursor, and spreads the closes over time (8)', async () => {
  const gateway = await serveLog()
  await gateway.commit(slotOf(owner, other))
  await gateway.known()
  const clients = Array.from({ length: 20 }, () => open(gateway.url))
  const feeds = clients.map((client) => subscribe(client, {}))
  const opened = await Promise.all(feeds.map(nextOf))
  const drained = gateway.drain(200)
  for (const [i, feed] of feeds.entries()) {
    expect(await nextOf(feed)).toMatchObject({
      __typename: 'FeedNotice',
      topic: 'DRAINING',
      cursor: opened[i]?.cursor,
      closesWithinMs: 200,
    })
  }
  expect((await rest(`${gateway.url}/health`)).status).toBe(503)
  const moments = await Promise.all(
    feeds.map(async (feed) => {
      const failure = await feed.next().catch((error: unknown) => error)
      expect(failure).toMatchObject({ code: 1001 })
      return performance.now()
    }),
  )
  expect(Math.max(...moments) - Math.min(...moments)).toBeGreaterThan(50)
  await drained
  await gateway.close()
})

function partsOf(row: ModelRow) {
  const { outputId, isSpent, milestoneIndex } = row
  return { ordinal: String(row.ordinal), outputId, isSpent, milestoneIndex }
}
