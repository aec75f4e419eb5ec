import { expect, test } from 'vitest'
import { createSettableClock, systemClock } from '../../src/lib/clock.ts'
import { rest, restJson } from '../support/rest.ts'
import { startGateway } from '../support/start-gateway.ts'
import { acceptedId, post, refusal } from '../support/submit.ts'
import { untilHealth } from '../support/wallet.ts'

const second = 1_000_000_000n

test('a clock that is set back is 503 and one line until it is right again', async () => {
  const now = systemClock.nowNs()
  const clock = createSettableClock(now)
  const gateway = await startGateway({ clock })
  const { url, logged } = gateway
  await untilHealth(url)
  const payload = (n: number) => JSON.stringify({ type: 0, tag: `0x0${n}`, data: '0x' })
  const first = await acceptedId(await post(url, payload(1)))
  const said = () =>
    logged
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === 'clock-behind' || event === 'clock-right')

  clock.set(now - 5n * second)
  expect((await rest(`${url}/health`)).status, 'a little is no harm').toBe(200)
  clock.set(now - 3_600n * second)
  clock.set(now - 3_599n * second)
  expect((await rest(`${url}/health`)).status).toBe(503)
  expect((await restJson(`${url}/api/core/v3/info`)).status.isHealthy).toBe(false)
  const refused = await post(url, payload(2))
  expect(refused.headers.get('retry-after')).toBe('1')
  const words = 'the ledger cannot take blocks now (clock behind)'
  expect(await refusal(refused)).toEqual([503, words])
  expect((await rest(`${url}/api/core/v3/blocks/${first}`)).status).toBe(200)
  expect(said()).toMatchObject([
    {
      event: 'clock-behind',
      level: 'warn',
      reason: expect.stringMatching(/^3[56]\d\d seconds behind/),
    },
  ])

  clock.set(now + second)
  await untilHealth(url)
  await acceptedId(await post(url, payload(3)))
  expect(said().map(({ event }) => event)).toEqual(['clock-behind', 'clock-right'])
  await gateway.close()
})
