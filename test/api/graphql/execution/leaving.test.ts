import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { GatewayContext } from '../../../../src/api/graphql/builder.ts'
import { createBudget } from '../../../../src/api/graphql/execution/budget.ts'
import { proofInBatch } from '../../../../src/api/graphql/types/proof-batch.ts'
import { defaultLimits } from '../../../../src/api/limits.ts'
import { openFeed } from '../../../../src/feed/open.ts'
import { createWake } from '../../../../src/feed/wake.ts'
import { identifyGenesis } from '../../../../src/ledger/genesis.ts'
import { present } from '../../../../src/lib/assert.ts'
import { systemClock } from '../../../../src/lib/clock.ts'
import { hexToBytes } from '../../../../src/lib/hex.ts'
import { silentLog } from '../../../../src/lib/log.ts'
import { developmentParameters } from '../../../../src/node/embedded/development-parameters.ts'
import { encodeBech32 } from '../../../../src/protocol/bech32.ts'
import { addressKey, indexOf } from '../../../../src/protocol/ids.ts'
import { networkOf } from '../../../../src/protocol/network.ts'
import { Output } from '../../../../src/protocol/outputs.ts'
import { encode } from '../../../../src/protocol/schema/schema.ts'
import { readOutputs } from '../../../../src/service/outputs/read-output.ts'
import type { Services } from '../../../../src/service/services.ts'
import type { CreatedOutput, Store } from '../../../../src/store/contract.ts'
import { ownClient } from '../../../attack/from-address.ts'
import { graphqlRequest } from '../../../attack/target.ts'
import { graphql, socketClient } from '../../../support/client.ts'
import {
  defaultDatabase,
  openedStore,
  type TestDatabase,
  takenLease,
} from '../../../support/databases.ts'
import { fullShare } from '../../../support/full-share.ts'
import { leastOf } from '../../../support/least-of.ts'
import { unwrap } from '../../../support/log-store.ts'
import { startTransports, type TestTransports } from '../../../support/start-gateway.ts'
import { slotCommit, testGenesis, testId } from '../../../support/store-rows.ts'
import { until } from '../../../support/until.ts'

/** The work of a request ends when its client disconnects, and a running request delays others little. */

const parameters = developmentParameters(0)
const owner = { type: 0, pubKeyHash: testId('Address', 32, 1) } as const
const address = encodeBech32(parameters.bech32Hrp, hexToBytes(addressKey(owner)))
/** 4,000 outputs of 32 transactions; their mana takes five reads. */
const [transactions, outputsEach] = [32, 125]

const output: Output = {
  type: 0,
  amount: 50_000n,
  mana: 0n,
  unlockConditions: [{ type: 0, address: owner }],
  features: [],
}

/** The outputs by transaction, like those of a genesis. */
const outputIds = Array.from({ length: transactions }, (_, equal) =>
  identifyGenesis(parameters, Array(outputsEach).fill(output), equal),
).flatMap((transaction) => transaction.outputIds)

let database: TestDatabase
let store: Store
let feed: Awaited<ReturnType<typeof openFeed>>
let doors: TestTransports
/** Counts the reads of pages of outputs, and of all outputs of a transaction. */
let reads = { pieces: 0, siblings: 0 }
/** Stops reads of one kind until it opens. */
let gate: Gate | undefined

interface Gate {
  readonly at: keyof typeof reads
  readonly reached: () => void
  readonly opened: Promise<void>
}

beforeAll(async () => {
  database = await defaultDatabase().create()
  store = await openedStore(database.url)
  const bytes = encode(Output, output)
  const { blockId } = identifyGenesis(parameters, [])
  const outputs = outputIds.map(
    (id): CreatedOutput => ({ outputId: id, bytes, blockId, bookedSlot: 0 }),
  )
  const genesis = testGenesis({ outputs, commit: slotCommit(0, []) })
  unwrap(await store.write.initialize(await takenLease(store), genesis))
  const wake = createWake()
  feed = await openFeed({ reader: store.read, parameters, wake, log: silentLog })
  doors = await startTransports(servicesOf())
})
afterAll(async () => {
  await doors.close()
  await feed.close()
  await store.close()
  await database.remove()
})
beforeEach(() => {
  reads = { pieces: 0, siblings: 0 }
  gate = undefined
})

function counting(read: Store['read']): Store['read'] {
  return {
    ...read,
    unspentOutputs: async (question) => {
      await count('pieces')
      return read.unspentOutputs(question)
    },
    outputsOfTransaction: async (transactionId) => {
      await count('siblings')
      return read.outputsOfTransaction(transactionId)
    },
  }
}

function servicesOf(): Services {
  const read = counting(store.read)
  const snapshot = async () => {
    const begun = await store.snapshot()
    return { ...begun, read: counting(begun.read) }
  }
  const status = () => ({ reasons: [], role: 'WRITER', term: 1 })
  const source = { network: networkOf(parameters), node: undefined, status }
  return {
    store: { ...store, read, snapshot },
    source,
    parameters,
    feed,
    clock: systemClock,
  } as unknown as Services
}

async function count(kind: keyof typeof reads): Promise<void> {
  reads[kind]++
  if (gate?.at !== kind) return
  gate.reached()
  await gate.opened
}

const manaQuery = `{ address(address: "${address}") { mana { reason total { written } } } }`
const proofs = '{ unspentOutputs(first: 1000) { nodes { proof { __typename } } } }'

describe('running operations', () => {
  let few: TestTransports
  beforeAll(async () => {
    few = await startTransports(servicesOf(), {
      ...defaultLimits,
      operations: 1,
      heldBytes: 1_000_000,
    })
  })
  afterAll(() => few.close())

  const refused = (unit: string, limit: number) => [
    { extensions: { code: 'OPERATION_LIMIT', unit, limit } },
  ]

  test('are refused beyond their limit by each transport, until one ends', async () => {
    let open = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const reached = new Promise<void>((resolve) => {
      gate = { at: 'pieces', reached: resolve, opened }
    })
    const first = graphql(few.url, manaQuery)
    await reached
    const other = await fetch(`${few.url}/graphql?query={__typename}`)
    expect([other.status, other.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await other.json()).errors).toMatchObject(refused('operations', 1))
    const stream = await fetch(`${few.url}/graphql?query={__typename}`, {
      headers: { accept: 'text/event-stream' },
    })
    expect(stream.status).toBe(503)
    expect(await stream.text()).toContain('none of the 1 operations is free')
    const client = socketClient(few.url)
    const outgoing = client.iterate({ query: '{ __typename }' }).next()
    await expect(outgoing).rejects.toMatchObject(refused('operations', 1))
    open()
    expect((await first).errors).toBeUndefined()
    // Each operation of the socket frees the place for the next one.
    for (const what of ['an operation', 'another operation']) {
      const query = '{ __typename }'
      await until(
        () =>
          client
            .iterate({ query })
            .next()
            .catch(() => false),
        { what },
      )
    }
    await client.dispose()
    await until(async () => (await fetch(`${few.url}/graphql?query={__typename}`)).status === 200, {
      what: 'another operation is accepted',
    })
  })

  test('of one client leave room for those of others', async () => {
    const five = await startTransports(servicesOf(), { ...defaultLimits, operations: 5 })
    let open = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    let waiting = 0
    gate = { at: 'pieces', reached: () => void waiting++, opened }
    let refusedOnes = 0
    const sent = Array.from({ length: 5 }, async (_, n) => {
      const { errors } = await graphql(five.url, `${manaQuery} # ${n}`)
      if (errors !== undefined) expect(errors).toMatchObject(refused('operations', 5))
      if (errors !== undefined) refusedOnes++
    })
    await until(() => waiting + refusedOnes === 5, { what: 'all requests wait or are refused' })
    const other = ownClient('127.0.0.2')
    expect((await other.ask(`${five.url}/graphql?query={__typename}`)).status).toBe(200)
    other.close()
    open()
    await Promise.all(sent)
    expect(refusedOnes).toBe(2)
    await five.close()
  })

  test('of one connection run one after the other', async () => {
    let open = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const socket = connect(Number(new URL(doors.url).port), '127.0.0.1')
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes
    })
    await new Promise<void>((resolve) => {
      gate = { at: 'pieces', reached: resolve, opened }
      socket.write(graphqlRequest(manaQuery) + graphqlRequest(`${manaQuery} # again`))
    })
    expect((await fetch(`${doors.url}/graphql?query={__typename}`)).status).toBe(200)
    expect(reads.pieces).toBe(1)
    open()
    await until(() => text.split('HTTP/1.1 200').length === 3, { what: 'both have responses' })
    expect(reads.pieces).toBe(10)
    socket.destroy()
  })

  test.each([
    ['the fast path', 'application/json'],
    ['the executor', 'application/json;q=0.9'],
    ['an event stream', 'text/event-stream'],
  ])('of clients that left before they began are not counted, by %s', async (_, accept) => {
    const one = await startTransports(servicesOf(), { ...defaultLimits, operations: 1 })
    // While the requests wait for turns, the ends of their connections arrive.
    const sockets = Array.from({ length: 50 }, async (_, n) => {
      const socket = connect(Number(new URL(one.url).port), '127.0.0.1')
      const query = `{ __typename } # ${n} ${accept} ${'x'.repeat(30_000)}`
      socket.end(graphqlRequest(query).replace('Host: x', `Host: x\r\nAccept: ${accept}`))
      await once(socket.resume(), 'close')
    })
    await Promise.all(sockets)
    const answered = async () =>
      (await fetch(`${one.url}/graphql?query={__typename}`)).status === 200
    await until(answered, { what: 'another operation is accepted' })
    await one.close()
  })

  test('end when their responses use too much memory together, which is then freed', async () => {
    const fields = Array.from({ length: 100 }, (_, n) => `a${n}: outputId`).join(' ')
    // Fields of the items before the one over the limit are still pending: they fail too, and their rejections must be handled.
    for (const later of ['', 'proof { __typename }']) {
      const large = `{ unspentOutputs(first: 1000) { nodes { ${fields} ${later} } } }`
      for (const accept of ['application/json', 'application/json;q=0.9']) {
        const { errors } = await graphql(few.url, large, {}, { accept })
        expect(errors).toMatchObject(refused('bytes', 1_000_000))
      }
    }
    const { data } = await graphql(
      few.url,
      '{ unspentOutputs(first: 1000) { nodes { outputId } } }',
    )
    expect(data.unspentOutputs.nodes).toHaveLength(1_000)
  })

  test('are refused by each transport while unsent responses use too much memory', async () => {
    const limits = { ...defaultLimits, heldBytes: 1_000_000 }
    const full = await startTransports(servicesOf(), limits)
    let open = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const large = (fields: number) =>
      `{ unspentOutputs(first: 1000) { nodes { ${Array.from({ length: fields }, (_, n) => `a${n}: outputId`).join(' ')} proof { __typename } } } }`
    const others = [ownClient('127.0.0.1'), ownClient('127.0.0.2')]
    // Two clients hold 440 and 180 KB of their responses.
    for (const [i, other] of others.entries()) {
      await new Promise<void>((resolve) => {
        gate = { at: 'siblings', reached: resolve, opened }
        const url = `${full.url}/graphql?query=${encodeURIComponent(large(i === 0 ? 5 : 2))}`
        void other.ask(url).catch(() => {})
      })
    }
    // Each request is new, because a cached response is not an operation, and is sent in any case.
    let queries = 0
    const sendQuery = (accept: string) =>
      fetch(`${full.url}/graphql?query={a${queries++}:__typename}`, { headers: { accept } })
    // On a busy machine some rows of a page are counted in later turns.
    await until(async () => (await sendQuery('application/json')).status === 503, {
      what: 'the responses use too much memory',
    })
    for (const accept of ['application/json', 'application/json;q=0.9', 'text/event-stream']) {
      const response = await sendQuery(accept)
      expect([response.status, await response.text()]).toEqual([
        503,
        expect.stringContaining('1000000 bytes'),
      ])
    }
    const client = socketClient(full.url)
    const next = client.iterate({ query: '{ __typename }' }).next()
    await expect(next).rejects.toMatchObject(refused('bytes', 1_000_000))
    await client.dispose()
    open()
    await until(async () => (await sendQuery('application/json')).status === 200, {
      what: 'another operation is accepted',
    })
    for (const other of others) other.close()
    await full.close()
  })

  test.each([
    ['compiled', 'application/json'],
    ['executed', 'application/json;q=0.9'],
  ])('end after the time limit, %s', async (_, accept) => {
    const queryMs = 100
    const limited = await startTransports(servicesOf(), { ...defaultLimits, queryMs })
    let reached = () => {}
    const isReached = new Promise<void>((resolve) => {
      reached = resolve
    })
    // A timer that is set later with the same delay expires after the timer of the query.
    const opened = isReached.then(() => delay(queryMs))
    gate = { at: 'pieces', reached, opened }
    const { errors } = await graphql(limited.url, manaQuery, {}, { accept })
    expect(errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_LONG', limitMs: queryMs } }])
    expect(reads.pieces).toBe(1)
    await limited.close()
  })
})

describe('a request ends with its client', () => {
  const ways = [
    ['over HTTP', leaveHttp],
    ['over HTTP, not compiled', (query: string) => leaveHttp(query, 'application/json;q=0.9')],
    ['on an event stream', leaveStream],
    ['by closing a socket', leaveSocket],
    ['by completing an operation of a socket', leaveOperation],
  ] as const

  test.each(ways)('that leaves %s', async (name, leave) => {
    await leaveAt('pieces', () => leave(manaQuery))
    // Another client sends the same query as another text, for which no response is cached. Remaining reads for the first client would
    // run before its own.
    const { data } = await graphql(doors.url, `${manaQuery} # ${name}`)
    expect(data.address.mana.total).toEqual({ written: '0' })
    expect(reads.pieces).toBe(1 + 5)
  })

  test.each(ways)('that leaves during the proofs of a page, %s', async (name, leave) => {
    await leaveAt('siblings', () => leave(proofs))
    await graphql(doors.url, `${proofs} # ${name}`)
    expect(reads.siblings).toBe(1 + 8)
  })
})

test('a query that is run again because of its errors ends its first run', async () => {
  const { data, errors } = await graphql(
    doors.url,
    `{ bad: ledgerUpdates(before: "0x00") { totalCount } ${proofs.slice(1)}`,
  )
  expect(errors).toMatchObject([{ path: ['bad'], extensions: { code: 'CURSOR_MALFORMED' } }])
  expect(data.unspentOutputs.nodes).toHaveLength(1_000)
  // Two complete runs read twice as much.
  expect(reads.siblings).toBeLessThanOrEqual(8 + 1)
})

/** Sends a request, disconnects at the first read of a kind, and lets that read continue when the server has detected it. */
async function leaveAt(at: Gate['at'], sendQuery: () => Promise<Leave>): Promise<void> {
  let [reached, open] = [() => {}, () => {}]
  const isReached = new Promise<void>((resolve) => {
    reached = resolve
  })
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  gate = { at, reached, opened }
  const leave = await sendQuery()
  await isReached
  await leave()
  expect(reads[at]).toBe(1)
  gate = undefined
  open()
}

test('other requests are served while a large response is written', async () => {
  const fields = Array.from({ length: 290 }, (_, n) => `a${n}: isSpent`)
  const query = `query ($first: Int!) { unspentOutputs(first: $first) { nodes { ${fields.join(' ')} } } }`
  // Compiles the query before the measurement.
  await graphql(doors.url, query, { first: 1 })
  let first = 1_000
  const longestShare = async () => {
    // Another size each time, so that no cached response helps.
    const variables = JSON.stringify({ first: first-- })
    let isOver = false
    let before = process.cpuUsage()
    const turns: number[] = []
    const turn = () => {
      const { user, system } = process.cpuUsage(before)
      turns.push(user + system)
      before = process.cpuUsage()
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    const parameters = new URLSearchParams({ query, variables })
    const response = await fetch(`${doors.url}/graphql?${parameters}`)
    const { length } = await response.text()
    isOver = true
    expect(length).toBeGreaterThan(900 * fields.length)
    // In processor time, because a turn waits on a busy machine. So many fields take some hundred milliseconds.
    return Math.max(...turns) / turns.reduce((sum, one) => sum + one, 0)
  }
  // In one piece it would take three quarters of the total.
  expect(await leastOf(longestShare, 0.6)).toBeLessThan(0.6)
})

describe('proofs of a page', () => {
  test('are computed once per transaction, and other requests are served between two transactions', async () => {
    let [turns, isOver] = [0, false]
    const turn = () => {
      turns++
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    const { data } = await graphql(doors.url, `${proofs} # in a page`)
    isOver = true
    expect(data.unspentOutputs.nodes).toHaveLength(1_000)
    // The page is read 256 rows at a time.
    expect(reads).toEqual({ pieces: 4, siblings: 8 })
    expect(turns).toBeGreaterThanOrEqual(8)
  })

  test('are computed at most 32 per turn, also those of one transaction', async () => {
    const { context, views } = await requested(outputsEach)
    const turns: number[] = []
    let [computed, isOver] = [0, false]
    const turn = () => {
      turns.push(computed)
      computed = 0
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    const proofs = views.map(async (view) => {
      const proof = await proofInBatch(context, view)
      computed++
      return proof.ok && proof.value.outputIndex
    })
    expect(await Promise.all(proofs)).toEqual(views.map(({ outputId: id }) => indexOf(id)))
    isOver = true
    turn()
    expect(turns.filter((n) => n > 0)).toEqual([32, 32, 32, 29])
    expect(reads.siblings).toBe(1)
  })

  test('of one transaction are freed while those of the next are computed', async () => {
    const { context, views } = await requested(outputsEach + 1)
    const [first, last] = [present(views[0], 'first'), present(views.at(-1), 'last')]
    const other = Promise.all([proofInBatch(context, first), proofInBatch(context, last)])
    await proofInBatch(context, first)
    // The transaction is read again, although the response is not complete.
    await Promise.all([other, proofInBatch(context, first)])
    expect(reads.siblings).toBe(3)
  })

  /** Returns the first outputs, and the context of a request. */
  async function requested(count: number) {
    const services = servicesOf()
    const views = await readOutputs(services, outputIds.slice(0, count))
    reads.siblings = 0
    return {
      views,
      context: { services, budget: createBudget(), share: fullShare() } as GatewayContext,
    }
  }

  test('are computed once per transaction for aliases as well', async () => {
    const query = '{ unspentOutputs(first: 300) { nodes { a: proof { slot } b: proof { slot } } } }'
    const { data } = await graphql(doors.url, query)
    expect(data.unspentOutputs.nodes[0].a).toEqual(data.unspentOutputs.nodes[0].b)
    expect(reads).toEqual({ pieces: 2, siblings: 3 })
  })
})

function sendQuery(headers: Record<string, string>, query: string) {
  const outgoing = request(`${doors.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  })
  outgoing.on('error', () => {})
  outgoing.end(JSON.stringify({ query }))
  return outgoing
}

/** Disconnects, and resolves when the server has detected it. */
type Leave = () => Promise<void>

async function leaveHttp(query: string, accept = 'application/json'): Promise<Leave> {
  const outgoing = sendQuery({ accept }, query)
  return async () => {
    outgoing.destroy()
    await untilDetected()
  }
}

async function leaveStream(query: string): Promise<Leave> {
  const outgoing = sendQuery({ accept: 'text/event-stream' }, query)
  return async () => {
    outgoing.destroy()
    await untilDetected()
  }
}

async function leaveSocket(query: string): Promise<Leave> {
  const socket = await openSocket(query)
  return async () => {
    socket.terminate()
    await untilDetected()
  }
}

async function leaveOperation(query: string): Promise<Leave> {
  const socket = await openSocket(query)
  return async () => {
    socket.send(JSON.stringify({ id: '1', type: 'complete' }))
    // The server handles the messages of a connection in order.
    socket.send(JSON.stringify({ type: 'ping' }))
    while (JSON.parse(String(await nextMessage(socket))).type !== 'pong');
    socket.terminate()
  }
}

async function openSocket(query: string): Promise<WebSocket> {
  const socket = new WebSocket(`${doors.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init' }))
  await nextMessage(socket)
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }))
  return socket
}

async function nextMessage(socket: WebSocket): Promise<unknown> {
  const [message] = await once(socket, 'message')
  return present(message, 'a message')
}

/** Waits until the server has detected the end of a connection: it does so before it reads later requests of other connections. */
async function untilDetected(): Promise<void> {
  for (let n = 0; n < 3; n++) await graphql(doors.url, '{ __typename }')
}
