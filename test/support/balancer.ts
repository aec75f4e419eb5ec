import { Agent, createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from './until.ts'

/** A load balancer as operators run it in front of gateways: round robin, health checks, keep-alive connections, no retry. */
export interface Balancer {
  /** The URL of the root, without a trailing slash. */
  readonly url: string
  /** Starts health checks of a gateway, and resolves at the first successful one. */
  add(target: string): Promise<void>
  /** Stops sending requests and health checks to a gateway. */
  remove(target: string): void
  /** The number of requests that a gateway received since it was added. */
  sent(target: string): number
  close(): Promise<void>
}

/** The delay between two health checks of a gateway. */
const checkEveryMs = 100

/** Starts a balancer on a free port. */
export async function startBalancer(): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true })
  const targets = new Set<string>()
  const ready = new Set<string>()
  const sent = new Map<string, number>()
  const closing = new AbortController()
  const checks: Promise<void>[] = []
  let turn = 0

  async function check(target: string): Promise<void> {
    while (targets.has(target)) {
      const isReady = await fetch(`${target}/health/ready`, { signal: closing.signal }).then(
        async (response) => {
          await response.arrayBuffer()
          return response.status === 200
        },
        () => false,
      )
      if (isReady && targets.has(target)) ready.add(target)
      else ready.delete(target)
      await delay(checkEveryMs)
    }
    ready.delete(target)
  }

  const server = createServer((message, response) => {
    const some = [...ready]
    const target = some[turn++ % some.length]
    if (target === undefined) {
      response.writeHead(502).end('no gateway is ready')
      return
    }
    sent.set(target, (sent.get(target) ?? 0) + 1)
    const { method, headers, url } = message
    const passed = send(`${target}${url}`, { method, headers, agent }, (answer) => {
      const { connection: _, ...kept } = answer.headers
      response.writeHead(answer.statusCode ?? 502, kept)
      answer.pipe(response)
    })
    passed.on('error', (error) => response.writeHead(502).end(`${target}: ${error}`))
    message.pipe(passed)
  })
  // A connection that is closed because it is idle, just when its next request arrives, is not a failure of a gateway.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: (target) => sent.get(target) ?? 0,
    add: async (target) => {
      // A former gateway may have had the same port.
      sent.set(target, 0)
      targets.add(target)
      checks.push(check(target))
      await until(() => ready.has(target), { what: `${target} is ready` })
    },
    remove: (target) => {
      targets.delete(target)
    },
    close: async () => {
      targets.clear()
      closing.abort()
      await Promise.all(checks)
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      agent.destroy()
    },
  }
}
