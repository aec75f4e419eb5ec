import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openListener } from '../support/mqtt.ts'
import { phasesAwaited } from '../support/phases-awaited.ts'
import { type ServedLog, serveLog } from '../support/serve-log.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'
import { until } from '../support/until.ts'

/** Work other than requests that waits for the turns of its client, and connections that wait without being lost. */

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

test('WebSockets are opened in turns of their client', async () => {
  const localAddress = '127.0.0.9'
  const url = `${gateway.url.replace('http', 'ws')}/graphql`
  const [awaited] = await phasesAwaited([localAddress], async () => {
    const open = async () => {
      const socket = new WebSocket(url, 'graphql-transport-ws', { localAddress })
      await once(socket, 'open')
      socket.terminate()
    }
    await Promise.all(Array.from({ length: 20 }, open))
  })
  expect(awaited).toBeGreaterThan(0)
})

test('MQTT topics are subscribed to one per turn', async () => {
  const { client, listen, close } = await openListener(gateway.url)
  const topics = Array.from(
    { length: 20 },
    (_, i) => `block-metadata/0x${`${i}`.padStart(72, '0')}`,
  )
  const [awaited] = await phasesAwaited(['127.0.0.1'], async () => {
    for (const topic of topics) expect(await listen(topic)).toBe(0)
  })
  // Not every wait is observed: a step that is planned for another turn may take a turn before the next observation.
  expect(awaited).toBeGreaterThan(topics.length / 2)
  expect(client.connected).toBe(true)
  await close()
})

describe('a subscription that catches up waits for turns of its client', () => {
  const count = 3_000
  const query = 'subscription { milestones(after: 0) { index } }'
  let served: ServedLog
  beforeAll(async () => {
    served = await serveLog()
    for (let i = 0; i < count; i += 1_000) {
      await served.commit(...Array.from({ length: 1_000 }, () => []))
    }
    await served.known()
  })
  afterAll(() => served.close())

  test('on a WebSocket', async () => {
    const localAddress = '127.0.0.10'
    const url = `${served.url.replace('http', 'ws')}/graphql`
    const socket = new WebSocket(url, 'graphql-transport-ws', { localAddress })
    await once(socket, 'open')
    socket.send('{"type":"connection_init"}')
    await once(socket, 'message')
    const [awaited] = await phasesAwaited([localAddress], async () => {
      let received = 0
      socket.on('message', () => void received++)
      socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }))
      await until(() => received === count)
    })
    socket.terminate()
    expect(awaited).toBeGreaterThan(10)
  })

  test('in an event stream', async () => {
    const localAddress = '127.0.0.11'
    const [awaited] = await phasesAwaited([localAddress], async () => {
      const headers = { accept: 'text/event-stream' }
      const url = `${served.url}/graphql?query=${encodeURIComponent(query)}`
      const outgoing = request(url, { headers, localAddress }).end()
      const [response] = await once(outgoing, 'response')
      let text = ''
      for await (const bytes of response) {
        text += bytes
        if (text.includes(`"index":${count}}`)) break
      }
    })
    expect(awaited).toBeGreaterThan(10)
  })
})

/** Opens connections while the event loop of this thread is blocked. */
const connecting = `
  const { workerData: { port, connections, done } } = require('node:worker_threads')
  const { connect } = require('node:net')
  let left = connections
  for (let i = 0; i < connections; i++) {
    connect({ host: '127.0.0.1', port }, () => {
      if (--left > 0) return
      Atomics.store(done, 0, 1)
      Atomics.notify(done, 0)
    }).on('error', () => {})
  }
`

const systemsLimit = '/proc/sys/net/core/somaxconn'

test.runIf(process.platform === 'linux' && Number(readFileSync(systemsLimit)) >= 4_096)(
  'a thousand connections wait to be accepted, and none is lost for a second',
  async () => {
    const done = new Int32Array(new SharedArrayBuffer(4))
    const port = Number(new URL(gateway.url).port)
    const workerData = { port, connections: 1_000, done }
    const worker = new Worker(connecting, { eval: true, workerData })
    await once(worker, 'online')
    expect(Atomics.wait(done, 0, 0, 10_000)).toBe('ok')
    await worker.terminate()
  },
)
