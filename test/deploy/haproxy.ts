import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { assert } from '../../src/lib/assert.ts'
import { graphql, socketClient } from '../support/client.ts'
import { openStream } from '../support/event-stream.ts'
import { startPostgresql } from '../support/postgresql-server.ts'
import { until } from '../support/until.ts'
import { startInImage } from './container.ts'
import type { Image } from './dockerfile.ts'
import { type Served, untilServed } from './served.ts'

/** Two gateways of an image on a real PostgreSQL behind HAProxy, with deploy/haproxy.cfg except for ports and addresses. */

interface Composition {
  readonly image: Image
  readonly node: string
  readonly root: string
  readonly folder: string
  say(text: string): void
}

/** Follows by both transports through the load balancer, and sends requests while one gateway stops. */
export async function behindHaproxy({
  image,
  node,
  root,
  folder,
  say,
}: Composition): Promise<void> {
  const database = await startPostgresql()
  const started: { readonly process: ChildProcess; readonly ended: Promise<unknown> }[] = []
  try {
    const gateways = [await start(), await start()]
    const url = await balance(gateways)
    await follow(url)
    const count = await queryWhileOneStops(url, gateways)
    say(
      `haproxy.cfg: it forwarded subscriptions of both transports to two gateways on PostgreSQL, and ${count} requests while one of them stopped`,
    )
  } finally {
    for (const one of started) one.process.kill('SIGTERM')
    await Promise.all(started.map((one) => one.ended))
    await database.stop()
  }

  async function start(): Promise<Served> {
    // With a shared secret the gateways keep nothing in files.
    const shared = { DATABASE_URL: database.url, JWT_SECRET: 'x'.repeat(32), TRUST_PROXY: '1' }
    const env = { PORT: '0', ...shared }
    const process = startInImage(image, { words: image.command, env, node })
    started.unshift({ process, ended: once(process, 'exit') })
    return untilServed(process)
  }

  async function balance(gateways: readonly Served[]): Promise<string> {
    const port = await freePort()
    const text = readFileSync(join(root, 'deploy/haproxy.cfg'), 'utf8')
    const file = join(folder, 'haproxy.cfg')
    writeFileSync(file, configFor(text, port, gateways))
    const process = spawn('haproxy', ['-f', file], { stdio: ['ignore', 'ignore', 'inherit'] })
    started.unshift({ process, ended: once(process, 'exit') })
    const url = `http://127.0.0.1:${port}`
    const answers = () =>
      fetch(`${url}/health/ready`).then(
        ({ status }) => status === 200,
        () => false,
      )
    await until(answers, { what: 'HAProxy forwards to a gateway' })
    return url
  }
}

function configFor(text: string, port: number, [one, other]: readonly Served[]): string {
  const address = (served: Served | undefined) => new URL(served?.url ?? '').host
  return text
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replace('gateway-1:4000', address(one))
    .replace('gateway-2:4000', address(other))
}

/** Opens a subscription on a WebSocket and one on an event stream. */
async function follow(url: string): Promise<void> {
  const query = 'subscription { ledgerUpdates { __typename } }'
  const client = socketClient(url)
  const events = client.iterate({ query })
  const { value } = await events.next()
  assert(value?.data?.ledgerUpdates !== undefined, 'expected a WebSocket event')
  const address = `${url}/graphql?query=${encodeURIComponent(query)}`
  const stream = await openStream(address, { headers: { accept: 'text/event-stream' } })
  assert(
    (await stream.result()).data.ledgerUpdates.__typename === 'FeedOpened',
    'expected an event of the stream',
  )
  stream.close()
  await events.return?.()
  await client.dispose()
}

/** Stops a gateway, and sends one request after the other until it has ended. No request may fail. */
async function queryWhileOneStops(url: string, [leaving]: readonly Served[]): Promise<number> {
  assert(leaving !== undefined, 'expected a gateway')
  let isOver = false
  const over = leaving.ended.then(() => {
    isOver = true
  })
  leaving.process.kill('SIGTERM')
  let count = 0
  for (; !isOver; count++) {
    const { data } = await graphql(url, '{ status { role } }')
    assert(data?.status !== undefined, 'expected a response of the other gateway')
  }
  await over
  return count
}

/** Returns a port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
