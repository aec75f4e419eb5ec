import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createClients } from '../../src/api/clients/clients.ts'
import { createDocuments } from '../../src/api/graphql/execution/documents.ts'
import { schema } from '../../src/api/graphql/schema.ts'
import { createGraphqlServer } from '../../src/api/graphql/server.ts'
import { createOccupancy, defaultLimits } from '../../src/api/limits.ts'
import { createObserver } from '../../src/api/observer.ts'
import { startHeartbeat } from '../../src/api/streams/heartbeat.ts'
import { openWebSocket } from '../../src/api/streams/ws.ts'
import { openSigningKey } from '../../src/api/tokens/signing-key.ts'
import { issueToken } from '../../src/api/tokens/token.ts'
import { type TokenHolder, watchTokens } from '../../src/api/tokens/token-watch.ts'
import { systemClock as clock, nowMs } from '../../src/lib/clock.ts'
import { silentLog as log } from '../../src/lib/log.ts'
import type { Services } from '../../src/service/services.ts'
import { unwrap } from '../support/log-store.ts'
import { until } from '../support/until.ts'

test('the token of a closed connection is no longer watched, however early it closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-'))
  const key = unwrap(await openSigningKey({ kind: 'file', path: join(folder, 'test.key') }))
  const watch = watchTokens(clock)
  const heartbeat = startHeartbeat()
  const watched = new Set<TokenHolder>()
  let everWatched = 0
  const add = (holder: TokenHolder) => {
    const end = watch.add(holder)
    watched.add(holder)
    everWatched++
    return () => {
      watched.delete(holder)
      end()
    }
  }
  const documents = createDocuments()
  const transport = openWebSocket({
    graphql: createGraphqlServer({ schema, log, documents }),
    observer: createObserver({ log, slowMs: 0 }),
    documents,
    // No operation is sent over these connections.
    services: {} as Services,
    auth: { key, clock },
    occupancy: createOccupancy(defaultLimits, { draining: new AbortController().signal }, log),
    tokens: { ...watch, add },
    clients: createClients(defaultLimits, { kind: 'none' }),
    log,
    heartbeat,
  })
  const server = createServer().on('upgrade', transport.upgrade)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const request = { subject: 'test', scopes: [], lifetimeSeconds: 3_600, nowMs: nowMs(clock) }
  const payload = { Authorization: await issueToken(key, request) }
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`

  async function connect(): Promise<WebSocket> {
    const socket = new WebSocket(url, 'graphql-transport-ws')
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'connection_init', payload }))
    return socket
  }

  for (let i = 0; i < 20; i++) {
    const socket = await connect()
    setImmediate(() => socket.terminate())
    await once(socket, 'close')
  }
  // The token of an open connection is watched, so the connections before it have been processed.
  const staying = await connect()
  await once(staying, 'message')
  expect(everWatched).toBeGreaterThan(0)
  expect(watched.size).toBe(1)
  staying.terminate()
  await until(() => watched.size === 0)

  await transport.close(0, 0)
  watch.stop()
  heartbeat.stop()
  server.close()
  rmSync(folder, { recursive: true })
})
