import { expect, test } from 'vitest'
import { createGatewayClient } from '../../src/cli/gateway-client.ts'
import { createStartProgress } from '../../src/cli/start-progress.ts'
import { createSettableClock, systemClock } from '../../src/lib/clock.ts'
import { defaultDatabase } from '../support/databases.ts'
import { runCommand } from '../support/run-command.ts'
import { startGateway } from '../support/start-gateway.ts'
import { untilHealth } from '../support/wallet.ts'

/** How a start and the catching up of a follower are shown, by the answers of a gateway about its health. */

/** What it shows while a gateway answers so, a second apart on the clock of the process. */
async function shown(answers: readonly object[], progressColumns: number | undefined) {
  let seconds = 0
  const nowNs = () => BigInt(seconds) * 1_000_000_000n
  const left = [...answers]
  const health = async () => {
    seconds += 1
    return { isHealthy: left.length <= 1, ...left.shift() }
  }
  const run = async (process: Parameters<typeof createStartProgress>[0]) => {
    await createStartProgress(process).until({ health }, new AbortController().signal)
    return 0
  }
  const clock = { nowNs, monotonicNs: nowNs }
  const { stderr } = await runCommand({ run }, [], { progressColumns, clock })
  return stderr
    .split('\r')
    .map((line) => line.replace('\u001b[K', ''))
    .filter((line) => line !== '')
}

const building = (done: number) => ({ starting: { step: 'building tries', done, of: 400 } })
const following = (committedSlot: number) => ({
  following: { state: 'CATCHING_UP', committedSlot, newestSlot: 1_100 },
})

test('each step has its bar, which is gone when the gateway is healthy', async () => {
  const lines = await shown(
    [
      building(0),
      building(100),
      building(200),
      { starting: { step: 'committing slots', done: 1, of: 9 } },
      {},
    ],
    100,
  )
  expect(lines).toEqual([
    'building tries [#####...............]  25 %, 100 of 400 outputs, 100 per second, 3 s left',
    'building tries [##########..........]  50 %, 200 of 400 outputs, 100 per second, 2 s left',
  ])
})

test('a follower counts from where it was', async () => {
  expect(await shown([following(1_000), following(1_050), {}], 120)).toEqual([
    'catching up with the nodes [##########..........]  50 %, 50 of 100 slots, 50 per second, 1 s left',
  ])
})

test('elsewhere nothing is shown', async () => {
  expect(await shown([building(0), building(100), {}], undefined)).toEqual([])
})

test('a gateway that was off for long serves while it catches up, and shows how far it is', async () => {
  const database = await defaultDatabase().create()
  const env = { DATABASE_URL: database.url }
  const begun = await startGateway({ env })
  await untilHealth(begun.url)
  await begun.close()
  const clock = createSettableClock(systemClock.nowNs() + 6_000_000_000_000n)
  const gateway = await startGateway({ env, clock })
  const client = createGatewayClient(gateway.url)
  try {
    expect(await client.health()).toMatchObject({ starting: expect.anything() })
    const run = async (process: Parameters<typeof createStartProgress>[0]) => {
      await createStartProgress(process).until(client, new AbortController().signal)
      return 0
    }
    // A bar comes after a second, which a fast machine does not need.
    let seconds = 0n
    const nowNs = () => ++seconds * 1_000_000_000n
    const fast = { nowNs, monotonicNs: nowNs }
    const { stderr } = await runCommand({ run }, [], { progressColumns: 100, clock: fast })
    expect(stderr).toMatch(/committing slots \[#*\.*\] +\d+ %, \d+ of \d{4} slots, \d+ per second/)
  } finally {
    await client.close()
    await gateway.close()
    await database.remove()
  }
})
