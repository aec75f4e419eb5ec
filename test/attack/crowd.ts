import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { addressOf, user } from '../support/wallet.ts'
import { type OwnClient, ownClient } from './from-address.ts'

/** Well-behaved clients in a process and at addresses of their own, which measure how long their requests take. */

/** What the crowd measured since it was last asked. */
export interface CrowdSample {
  /** How many requests were answered. */
  readonly answered: number
  /** How many failed, or were refused. */
  readonly failed: number
  /** The 99th percentile of all, in milliseconds. */
  readonly p99Ms: number
  /** The longest. */
  readonly longestMs: number
}

/** How many clients there are, and how long each waits between two requests. */
const [clients, pauseMs] = [50, 200]

const [url = ''] = process.argv.slice(2)
const address = addressOf(user(3))
const query = `{ address(address: "${address}") { balance { total } updates(first: 10) { nodes { outputId } } } }`
const json = { 'content-type': 'application/json' }
let times: number[] = []
let failed = 0

/*
 * They would have machines of their own. Here they share processors with the attacker, for which they must not wait: that would be no time
 * of the gateway.
 */
try {
  setPriority(-15)
} catch {
  // Only the administrator may raise it.
}

type Way = (client: OwnClient) => Promise<boolean>

const ways: readonly Way[] = [
  (client) =>
    answered(client, '/graphql', {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ query }),
    }),
  (client) =>
    answered(client, `/graphql?${new URLSearchParams({ query: '{ milestone { index } }' })}`),
  (client) => answered(client, `/api/explorer/v2/ledger/updates/by-address/${address}?pageSize=10`),
  // On a connection of its own, as somebody new.
  (client) => answered(client, '/api/core/v3/info', { headers: { connection: 'close' } }),
  firstEvent,
]

async function answered({ ask }: OwnClient, ...[path, init]: Parameters<OwnClient['ask']>) {
  const { status, text } = await ask(url + path, init)
  return status === 200 && !text.includes('"errors"')
}

/** Opens a feed as an event stream, and leaves after its first event. */
async function firstEvent({ ask }: OwnClient): Promise<boolean> {
  const feed = `subscription { ledgerUpdates(addresses: ["${address}"]) { __typename } }`
  const target = `${url}/graphql?${new URLSearchParams({ query: feed })}`
  const { text } = await ask(target, { headers: { accept: 'text/event-stream' }, stream: 'left' })
  return text.includes('FeedOpened')
}

async function bySocket(client: Client): Promise<boolean> {
  const answers = client.iterate({ query })
  const { value } = await answers.next()
  await answers.return?.()
  return value?.errors === undefined
}

async function behave(way: () => Promise<boolean>): Promise<never> {
  await delay(Math.random() * pauseMs)
  for (;;) {
    const begun = performance.now()
    // A failure of any kind counts, whatever it is.
    const isWell = await way().catch(() => false)
    times.push(performance.now() - begun)
    if (!isWell) failed++
    await delay(pauseMs)
  }
}

for (let i = 0; i < clients; i++) {
  const own = ownClient(`127.0.1.${i + 1}`)
  const way = ways[i % (ways.length + 1)]
  if (way !== undefined) void behave(() => way(own))
  else {
    class OwnSocket extends WebSocket {
      constructor(address: string, protocols: string[]) {
        super(address, protocols, { localAddress: own.localAddress })
      }
    }
    const socket = `${url.replace('http', 'ws')}/graphql`
    const client = createClient({ url: socket, webSocketImpl: OwnSocket, lazy: false })
    void behave(() => bySocket(client))
  }
}

process.on('message', () => {
  const sorted = times.toSorted((a, b) => a - b)
  const sample: CrowdSample = {
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
