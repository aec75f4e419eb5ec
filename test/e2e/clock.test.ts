import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Environment } from '../../src/config.ts'
import { present } from '../../src/lib/assert.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { print } from '../../src/protocol/schema/schema.ts'
import { slotOfTime } from '../../src/protocol/slots.ts'
import { SignedTransaction } from '../../src/protocol/transaction.ts'
import { graphql } from '../support/client.ts'
import { defaultDatabase } from '../support/databases.ts'
import { makeFolder, startProgram } from '../support/program.ts'
import { rest, restJson } from '../support/rest.ts'
import { scrape } from '../support/scrape.ts'
import { createSettableClock } from '../support/settable-clock.ts'
import { startGateway } from '../support/start-gateway.ts'
import { acceptedId, post, refusal, submit } from '../support/submit.ts'
import {
  blockOf,
  genesisOutputs,
  offerOf,
  ownedBy,
  paymentOf,
  taggedData,
  untilCommitted,
  untilHealth,
  user,
} from '../support/wallet.ts'

const second = 1_000_000_000n
const day = 86_400n * second
const behind = 'the ledger accepts no blocks now (clock behind)'
const leapt = 'the ledger accepts no blocks now (clock leapt)'

const payload = (n: number) => JSON.stringify({ type: 0, tag: `0x0${n}`, data: '0x' })

test('a clock that is set back causes 503 and one log line until it is right again', async () => {
  const now = systemClock.nowNs()
  const clock = createSettableClock(now)
  const gateway = await startGateway({ clock })
  const { url, logged } = gateway
  await untilHealth(url)
  const first = await acceptedId(await post(url, payload(1)))
  const clockLines = () =>
    logged
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === 'clock-behind' || event === 'clock-right')

  clock.set(now - 5n * second)
  expect((await rest(`${url}/health`)).status, 'a small difference is tolerated').toBe(200)
  clock.set(now - 3_600n * second)
  clock.set(now - 3_599n * second)
  expect((await rest(`${url}/health`)).status).toBe(503)
  expect((await restJson(`${url}/api/core/v3/info`)).status.isHealthy).toBe(false)
  const refused = await post(url, payload(2))
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await refusal(refused)).toEqual([503, behind])
  expect(await (await rest(`${url}/health`)).json()).toMatchObject({ reason: 'clock behind' })
  expect((await rest(`${url}/api/core/v3/blocks/${first}`)).status).toBe(200)
  expect(clockLines()).toMatchObject([
    {
      event: 'clock-behind',
      level: 'warn',
      reason: expect.stringMatching(/^3[56]\d\d seconds behind/),
    },
  ])

  clock.set(now + second)
  await untilHealth(url)
  await acceptedId(await post(url, payload(3)))
  expect(clockLines().map(({ event }) => event)).toEqual(['clock-behind', 'clock-right'])
  await gateway.close()
})

describe('a clock that is set back', () => {
  test.each([4, 6, 9])(
    'by %i seconds never causes status 400 for a payload without a block',
    async (seconds) => {
      const { clock, gateway, url } = await startOnClock()
      const now = clock.nowNs()
      const { network } = await offerOf(url)
      const [spend] = await genesisOutputs(url, user(2))
      const creationSlot = slotOfTime(network.parameters, now + second)
      clock.set(now - BigInt(seconds) * second)
      // The node can still build a block if the parents allow it.
      const answer = await post(url, payload(1))
      const outcome = answer.status === 201 ? [201] : await refusal(answer)
      expect([[201], [503, behind]]).toContainEqual(outcome)
      if (seconds > 5) expect(outcome, 'its parents are too far ahead').toEqual([503, behind])
      if (answer.status === 503) expect(answer.headers.get('retry-after')).toBe('1')
      const inGraphql = await submit(url, { payload: { taggedData: { tag: '0x02', data: '0x' } } })
      if (seconds > 5) expect(inGraphql).toMatchObject({ code: 'LEDGER_UNAVAILABLE' })

      const { payload: transaction } = paymentOf(network, {
        spend: present(spend, 'genesis output'),
        key: user(2),
        outputs: [ownedBy(user(2), 1_000_000_000n)],
        creationSlot,
      })
      const json = print(SignedTransaction, transaction)
      const refused = await post(url, JSON.stringify(json))
      expect([await refusal(refused), refused.headers.get('retry-after')]).toEqual([
        [503, behind],
        '1',
      ])
      clock.set(now + second)
      await acceptedId(await post(url, JSON.stringify(json)))
      await gateway.close()
    },
  )

  test('causes status 400 for a block with an issuing time', async () => {
    const { clock, gateway, url } = await startOnClock()
    const now = clock.nowNs()
    const { bytes } = blockOf(await offerOf(url), taggedData('0x', '0x01'), {
      header: { issuingTime: now },
    })
    clock.set(now - 8n * second)
    const [status, message] = await refusal(await post(url, bytes))
    expect(status).toBe(400)
    expect(message).toMatch(/^header.issuingTime: .* is more than five seconds after /)
    await gateway.close()
  })
})

test('a payload whose block is late is accepted with another block', async () => {
  const { clock, gateway, url } = await startOnClock({ CLIENT_PAYLOADS: '100000' })
  let count = 0
  const refusals: unknown[] = []
  // In some of the rounds the slots of blocks are closed after they are built and before they are stored.
  for (let turns = 0; turns < 30; turns++) {
    const answers = Array.from({ length: 20 }, () => {
      const tag = `0x${(count++).toString(16).padStart(8, '0')}`
      return post(url, JSON.stringify({ type: 0, tag, data: '0x' }))
    })
    for (let turn = 0; turn < turns; turn++) await setImmediate()
    clock.advance(8n * second)
    for (const answer of await Promise.all(answers)) {
      if (answer.status !== 201) refusals.push(await refusal(answer))
    }
    await untilHealth(url)
  }
  const starting = 'the ledger accepts no blocks now (starting)'
  expect(refusals).toEqual(refusals.map(() => [503, starting]))
  expect(refusals.length).toBeLessThan(count)
  await gateway.close()
})

describe('a clock that leaps ahead by a day', () => {
  test('is ignored: the gateway commits no slot that the elapsed time has not reached', async () => {
    const { clock, gateway, url, clockEvents } = await startOnClock()
    const before = clock.nowNs()
    const committedBefore = await committedSlot(url)
    clock.set(before + day)
    const answer = await rest(`${url}/health`)
    expect([answer.status, await answer.json()]).toMatchObject([
      503,
      { isHealthy: false, reason: 'clock leapt' },
    ])
    const { data } = await graphql(url, '{ health { isHealthy reason } }')
    expect(data.health).toEqual({ isHealthy: false, reason: 'CLOCK_LEAPT' })
    const trouble = async () => {
      const metrics = await scrape(gateway.metricsUrl)
      return metrics.sum('ledger_gateway_trouble', { event: 'clock-leapt' })
    }
    expect(await trouble(), 'the alert rule reads this metric').toBe(1)
    const refused = await post(url, payload(1))
    expect([await refusal(refused), refused.headers.get('retry-after')]).toEqual([
      [503, leapt],
      '1',
    ])
    // Slots are committed as before, by the elapsed time.
    clock.advance(5n * second)
    await untilCommitted(url, committedBefore + 5)
    clock.set(before + 5n * second)
    await untilHealth(url)
    await acceptedId(await post(url, payload(1)))
    expect(await committedSlot(url)).toBe(committedBefore + 5)
    expect(clockEvents()).toEqual([
      ['clock-leapt', 86_400],
      ['clock-leap-over', 'undone'],
    ])
    expect(await trouble()).toBe(0)
    await gateway.close()
  })

  test('is accepted by a gateway that starts', async () => {
    const clock = createSettableClock(systemClock.nowNs())
    const database = await defaultDatabase().create()
    const env = { DATABASE_URL: database.url }
    const first = await startGateway({ clock, env })
    await untilHealth(first.url)
    const committed = await committedSlot(first.url)
    await first.close()
    clock.set(clock.nowNs() + 900n * second)
    const restarted = await startGateway({ clock, env })
    await untilCommitted(restarted.url, committed + 900)
    await untilHealth(restarted.url)
    await restarted.close()
    await database.remove()
  })
})

test.each([
  ['been confirmed', 'confirmed'],
  ['stood for a minute', 'stood'],
])('a clock that leaps ahead is followed once it has %s', async (_, outcome) => {
  const { clock, gateway, url, clockEvents } = await startOnClock()
  const committedBefore = await committedSlot(url)
  clock.set(clock.nowNs() + 300n * second)
  await untilHealth(url, 503)
  if (outcome === 'confirmed') gateway.confirmClock()
  else clock.advance(60n * second)
  await untilCommitted(url, committedBefore + 300)
  await untilHealth(url)
  await acceptedId(await post(url, payload(1)))
  expect(clockEvents()).toEqual([
    ['clock-leapt', 300],
    ['clock-leap-over', outcome],
  ])
  await gateway.close()
})

test('the signal that confirms the clock does not end the program', async () => {
  const folder = makeFolder()
  const program = await startProgram({ DATABASE_URL: folder.databaseUrl })
  program.process.kill('SIGUSR2')
  await untilCommitted(program.url, (await committedSlot(program.url)) + 2)
  await program.end('SIGTERM')
  expect(program.process.signalCode).toBe(null)
  folder.remove()
})

/** Starts a gateway on a manual clock and advances it by five seconds. `clockEvents` returns the clock events of its log. */
async function startOnClock(env: Environment = {}) {
  const clock = createSettableClock(systemClock.nowNs())
  const gateway = await startGateway({ clock, env: { METRICS_PORT: '0', ...env } })
  const { url, logged } = gateway
  await untilHealth(url)
  const first = await committedSlot(url)
  for (let passed = 1; passed <= 5; passed++) {
    clock.advance(second)
    await untilCommitted(url, first + passed)
  }
  await acceptedId(await post(url, payload(0)))
  const clockEvents = () =>
    logged
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event.startsWith('clock-'))
      .map(({ event, aheadSeconds, outcome }) => [event, aheadSeconds ?? outcome])
  return { clock, gateway, url, clockEvents }
}

async function committedSlot(url: string): Promise<number> {
  return (await restJson(`${url}/api/core/v3/info`)).status.latestFinalizedSlot
}
