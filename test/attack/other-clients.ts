import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { addressOf, user } from '../support/wallet.ts'
import { type OwnClient, ownClient } from './from-address.ts'

/** Runs clients in this process, each with an address of its own, and measures the latency of their requests. */

/** The measurements since the last message of the parent process. */
export interface LatencySample {
  /** The number of successful requests. */
  readonly answered: number
  /** The number of requests that failed or were refused. */
  readonly failed: number
  /** The 99th percentile of the latency, in milliseconds. */
  readonly p99Ms: number
  /** The longest latency, in milliseconds. */
  readonly longestMs: number
}

/** The number of clients, and the pause of each between two requests. */
const [clients, pauseMs] = [50, 200]

const [url = ''] = process.argv.slice(2)
const address = addressOf(user(3))
const query = `{ address(address: "${address}") { balance { total } updates(first: 10) { nodes { outputId } } } }`
const json = { 'content-type': 'application/json' }
let times: number[] = []
let failed = 0

/*
 * Real clients would have machines of their own. Here they share processors with the attacker, and must not wait for it: the measurement
 * would include time that is not the gateway's.
 */
try {
  setPriority(-15)
} catch {
  // Only the administrator may raise it.
}

type RequestKind = (client: OwnClient) => Promise<boolean>

/** The kinds of requests by HTTP. Other clients use a WebSocket. */
const requestKinds: readonly RequestKind[] = [
  (client) =>
    isAnswered(client, '/graphql', {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ query }),
    }),
  (client) =>
    isAnswered(client, `/graphql?${new URLSearchParams({ query: '{ milestone { index } }' })}`),
  (client) =>
    isAnswered(client, `/api/explorer/v2/ledger/updates/by-address/${address}?pageSize=10`),
  // Opens a new connection each time, as a new client does.
  (client) => isAnswered(client, '/api/core/v3/info', { headers: { connection: 'close' } }),
  isFeedOpened,
]

async function isAnswered({ ask }: OwnClient, ...[path, init]: Parameters<OwnClient['ask']>) {
  const { status, text } = await ask(url + path, init)
  return status === 200 && !text.includes('"errors"')
}

/** Opens a feed as an event stream, and closes it after its first event. */
async function isFeedOpened({ ask }: OwnClient): Promise<boolean> {
  const feed = `subscription { ledgerUpdates(addresses: ["${address}"]) { __typename } }`
  const target = `${url}/graphql?${new URLSearchParams({ query: feed })}`
  const { text } = await ask(target, { headers: { accept: 'text/event-stream' }, stream: 'closed' })
  return text.includes('FeedOpened')
}

async function isAnsweredBySocket(client: Client): Promise<boolean> {
  const results = client.iterate({ query })
  const { value } = await results.next()
  await results.return?.()
  return value?.errors === undefined
}

async function sendRepeatedly(isSuccessful: () => Promise<boolean>): Promise<never> {
  await delay(Math.random() * pauseMs)
  for (;;) {
    const start = performance.now()
    // All exceptions count as failures.
    const isSuccess = await isSuccessful().catch(() => false)
    times.push(performance.now() - start)
    if (!isSuccess) failed++
    await delay(pauseMs)
  }
}

for (let i = 0; i < clients; i++) {
  const own = ownClient(`127.0.1.${i + 1}`)
  const kind = requestKinds[i % (requestKinds.length + 1)]
  if (kind !== undefined) void sendRepeatedly(() => kind(own))
  else {
    class OwnSocket extends WebSocket {
      constructor(address: string, protocols: string[]) {
        super(address, protocols, { localAddress: own.localAddress })
      }
    }
    const socket = `${url.replace('http', 'ws')}/graphql`
    const client = createClient({ url: socket, webSocketImpl: OwnSocket, lazy: false })
    void sendRepeatedly(() => isAnsweredBySocket(client))
  }
}

process.on('message', () => {
  const sorted = times.toSorted((a, b) => a - b)
  const sample: LatencySample = {
    answered: sorted.length - failed,
    failed,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    longestMs: sorted.at(-1) ?? 0,
  }
  times = []
  failed = 0
  process.send?.(sample)
})
process.send?.('ready')
