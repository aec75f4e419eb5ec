import { once } from 'node:events'
import { afterAll, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { databases } from '../support/databases.ts'
import { openHaltingProxy } from '../support/halting-proxy.ts'
import { makeFolder, spawnProgram, startProgram } from '../support/program.ts'
import { rest } from '../support/rest.ts'
import { acceptedId, post } from '../support/submit.ts'
import { until } from '../support/until.ts'
import { untilHealth } from '../support/wallet.ts'

/** The process and its termination signals. */

const folder = makeFolder()
afterAll(() => folder.remove())

test('after SIGTERM the program serves but is not ready, and a second signal ends it at once', async () => {
  // Longer than the timeout of this test.
  const program = await startProgram({ DATABASE_URL: folder.databaseUrl, DRAIN_DELAY: '60' })
  const { url, process } = program
  await untilHealth(url)
  process.kill('SIGTERM')
  await until(async () => (await rest(`${url}/health/ready`)).status === 503)
  await acceptedId(await post(url, JSON.stringify({ type: 0, tag: '0x01', data: '0x' })))
  expect((await rest(`${url}/health/live`)).status).toBe(200)
  const ended = once(process, 'exit')
  process.kill('SIGTERM')
  expect(await ended).toEqual([130, null])
})

test('a terminal that closes stops the program in order, without a drain delay', async () => {
  const program = await startProgram({ DATABASE_URL: folder.databaseUrl, DRAIN_DELAY: '60' })
  const ended = once(program.process, 'close')
  // The terminal sends one, and so does the installed command to the process that it started.
  program.process.kill('SIGHUP')
  await until(() => program.logged().includes('"event":"stopping"'), { what: 'the stop' })
  program.process.kill('SIGHUP')
  expect(await ended).toEqual([0, null])
  expect(program.logged()).toContain('"event":"stopped"')
})

test('a database that does not answer delays neither the stop nor an interrupted start beyond ten seconds', async () => {
  const kind = present(
    databases.find(({ name }) => name === 'postgresql'),
    'postgresql',
  )
  const database = await kind.create()
  const address = new URL(database.url)
  const proxy = await openHaltingProxy(Number(address.port))
  Object.assign(address, { hostname: '127.0.0.1', port: String(proxy.port) })
  const keys = `${folder.databaseFile}.silent.key`
  const env = { DATABASE_URL: address.href, KEY_FILE: keys, DRAIN_SECONDS: '0' }
  const program = await startProgram(env)
  await untilHealth(program.url)
  proxy.halt()
  const starting = spawnProgram({ ...env, METRICS_PORT: '0' })
  await until(() => starting.logged().includes('metrics-served'), { what: 'a start' })
  await Promise.all([program.end('SIGTERM'), starting.end('SIGTERM')])
  expect(program.logged()).toContain('"event":"stop-cut-short"')
  expect(program.process.exitCode).toBe(1)
  expect(starting.logged()).toContain(
    'ledger-gateway serve: the start was interrupted before the ledger was initialized\n',
  )
  expect(starting.process.exitCode).toBe(1)
  await proxy.close()
  await database.remove()
}, 120_000)
