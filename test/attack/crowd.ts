import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { addressOf, user } from '../support/wallet.ts'

/** Well-behaved clients in a process of their own, which measure how long their requests take. */

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

/** A request that takes longer has failed. */
const patienceMs = 20_000

const [url = ''] = process.argv.slice(2)
const address = addressOf(user(3))
const query = `{ address(address: "${address}") { balance { total } updates(first: 10) { nodes { outputId } } } }`
const json = { 'content-type': 'application/json' }
let times: number[] = []
let failed = 0

const ways: readonly (() => Promise<boolean>)[] = [
  () => answered('/graphql', { method: 'POST', headers: json, body: JSON.stringify({ query }) }),
  () => answered(`/graphql?${new URLSearchParams({ query: '{ milestone { index } }' })}`),
  () => answered(`/api/explorer/v2/ledger/updates/by-address/${address}?pageSize=10`),
  // On a connection of its own, as somebody new.
  () => answered('/api/core/v3/info', { headers: { connection: 'close' } }),
  firstEvent,
]

async function answered(path: string, init: RequestInit = {}): Promise<boolean> {
  const response = await fetch(url + path, { ...init, signal: AbortSignal.timeout(patienceMs) })
  const text = await response.text()
  return response.ok && !text.includes('"errors"')
}

/** Opens a feed as an event stream, and leaves after its first event. */
async function firstEvent(): Promise<boolean> {
  const feed = `subscription { ledgerUpdates(addresses: ["${address}"]) { __typename } }`
  const response = await fetch(`${url}/graphql?${new URLSearchParams({ query: feed })}`, {
    headers: { accept: 'text/event-stream' },
    signal: AbortSignal.timeout(patienceMs),
  })
  const reader = response.body?.getReader()
  const { value } = (await reader?.read()) ?? {}
  await reader?.cancel()
  return response.ok && Buffer.from(value ?? []).includes('FeedOpened')
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
  const way = ways[i % (ways.length + 1)]
  if (way !== undefined) void behave(way)
  else {
    const socket = `${url.replace('http', 'ws')}/graphql`
    const client = createClient({ url: socket, webSocketImpl: WebSocket, lazy: false })
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
