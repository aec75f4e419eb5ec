import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { graphql } from '../support/client.ts'
import { makeFolder, startProgram } from '../support/program.ts'
import { rest } from '../support/rest.ts'

/** Output that cannot be written. */

test('a gateway continues without the reader of its log, and stops in order', async () => {
  const folder = makeFolder()
  const gateway = await startProgram({ DATABASE_URL: folder.databaseUrl, LOG_LEVEL: 'debug' })
  gateway.process.stderr?.destroy()
  const ended = once(gateway.process, 'exit')
  for (let n = 0; n < 3; n++) await rest(`${gateway.url}/health/live`)
  await gateway.end('SIGTERM')
  expect(await ended).toEqual([0, null])
  folder.remove()
})

test('a gateway whose log is not read loses lines instead of memory, and stops in order', async () => {
  const folder = makeFolder()
  const gateway = await startProgram({ DATABASE_URL: folder.databaseUrl, LOG_LEVEL: 'debug' })
  const stderr = present(gateway.process.stderr, 'a pipe')
  stderr.pause()
  const before = gateway.logged().length
  // The name is in the line of each request.
  const query = `query ${'x'.repeat(5_000)} { __typename }`
  for (let n = 0; n < 600; n++) await graphql(gateway.url, query)
  const ended = once(gateway.process, 'exit')
  gateway.process.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  stderr.resume()
  await once(gateway.process, 'close')
  expect(gateway.logged().length - before).toBeLessThan(1_500_000)
  folder.remove()
})

test.runIf(process.platform === 'linux')(
  'a command on a full disk fails with a message',
  async () => {
    const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [main, 'help'], { stdio: ['ignore', full, 'pipe'] })
    closeSync(full)
    const [stderr, [code]] = await Promise.all([
      text(present(child.stderr, 'a pipe')),
      once(child, 'exit'),
    ])
    expect([code, stderr]).toEqual([
      1,
      'ledger-gateway help: ENOSPC: no space left on device, write\n',
    ])
  },
)
