import { once } from 'node:events'
import { afterAll, expect, test } from 'vitest'
import { makeFolder, startProgram } from '../support/program.ts'
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
}, 30_000)
