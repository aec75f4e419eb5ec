import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openListener } from '../support/mqtt.ts'
import { phasesAwaited } from '../support/phases-awaited.ts'
import { startGateway, type TestGateway } from '../support/start-gateway.ts'

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
