import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { openNotifications } from '../../../src/store/postgresql/notifications.ts'
import { databases } from '../../support/databases.ts'
import { openHaltingProxy } from '../../support/halting-proxy.ts'
import { createMemoryLog } from '../../support/memory-log.ts'
import { onServer } from '../../support/postgresql-server.ts'

test('a failed connection is logged once, however many attempts follow', async () => {
  const server = createServer((socket) => socket.destroy())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const { log, events } = createMemoryLog()
  const news = openNotifications(`postgresql://user:secret@127.0.0.1:${port}/test`, log)
  news.listen(() => {})
  for (let tries = 0; tries < 3; tries++) await once(server, 'connection')
  await news.close()
  server.close()
  expect(events()).toMatchObject([{ event: 'wake-up-lost', level: 'warn' }])
  expect(events()[0]?.reason).toMatch(/Connection terminated|ECONNRESET/)
  expect(JSON.stringify(events())).not.toContain('secret')
})

test('closing ends although the network is silent', async () => {
  const kind = databases.find(({ name }) => name === 'postgresql')
  const database = await present(kind, 'postgresql').create()
  const url = new URL(database.url)
  const proxy = await openHaltingProxy(Number(url.port))
  Object.assign(url, { hostname: '127.0.0.1', port: `${proxy.port}` })
  const news = openNotifications(url.href, silentLog)
  await new Promise<void>((listening) => news.listen(() => listening()))
  proxy.halt()
  await news.close()
  await proxy.close()
  await database.remove()
})

test('a role whose idle sessions end keeps its session that listens', async () => {
  const kind = databases.find(({ name }) => name === 'postgresql')
  const database = await present(kind, 'postgresql').create()
  const { log, events } = createMemoryLog()
  const url = `${database.url}?options=-cidle_session_timeout%3D100ms`
  const news = openNotifications(url, log)
  await new Promise<void>((listening) => news.listen(() => listening()))
  await onServer(database.url, 'SELECT pg_sleep(1)')
  expect(events()).toEqual([])
  await news.close()
  await database.remove()
})
