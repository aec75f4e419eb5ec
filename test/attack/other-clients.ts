import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { ownClient } from './from-address.ts'
import { isAnswer, otherRequests, query } from './other-requests.ts'

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
  // The last kind of clients uses a WebSocket.
  const request = otherRequests[i % (otherRequests.length + 1)]
  if (request !== undefined) {
    const { path, init } = request
    void sendRepeatedly(async () => isAnswer(request, await own.ask(url + path, init)))
  } else {
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
