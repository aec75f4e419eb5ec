import { expect, test } from 'vitest'
import { createGatewayClient } from '../../src/cli/gateway-client.ts'
import { createStartProgress } from '../../src/cli/start-progress.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { defaultDatabase } from '../support/databases.ts'
import { runCommand } from '../support/run-command.ts'
import { createSettableClock } from '../support/settable-clock.ts'
import { startGateway } from '../support/start-gateway.ts'
import { untilHealth } from '../support/wallet.ts'

/** The progress of a start and of a follower that catches up, computed from health responses of a gateway. */

/** Returns the lines shown for these health responses, which arrive one second apart on the clock of the process. */
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

test('each step has a progress bar, which disappears when the gateway is healthy', async () => {
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

test('the progress of a follower starts at its former slot', async () => {
  expect(await shown([following(1_000), following(1_050), {}], 120)).toEqual([
    'catching up with the nodes [##########..........]  50 %, 50 of 100 slots, 50 per second, 1 s left',
  ])
})

test('without a terminal no progress is shown', async () => {
  expect(await shown([building(0), building(100), {}], undefined)).toEqual([])
})

test('a gateway that starts after a long pause serves and shows progress while it catches up', async () => {
  const database = await defaultDatabase().create()
  const env = { DATABASE_URL: database.url }
  const former = await startGateway({ env })
  await untilHealth(former.url)
  await former.close()
  const clock = createSettableClock(systemClock.nowNs() + 6_000_000_000_000n)
  const gateway = await startGateway({ env, clock })
  const client = createGatewayClient(gateway.url)
  try {
    expect(await client.health()).toMatchObject({ starting: expect.anything() })
    const run = async (process: Parameters<typeof createStartProgress>[0]) => {
      await createStartProgress(process).until(client, new AbortController().signal)
      return 0
    }
    // The bar appears after a second; a fast machine has caught up before that.
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
