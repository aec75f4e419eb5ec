import { expect, test } from 'vitest'
import { startHeartbeat } from '../../src/api/streams/heartbeat.ts'
import { until } from '../support/until.ts'

test('a heartbeat disconnects a client that sends nothing between two pings, and no other (12)', async () => {
  const heartbeat = startHeartbeat(110)
  const pings = { alive: 0, dead: 0 }
  let isCut = false
  const dead = {
    isSilent: false,
    isBusy: () => false,
    ping: () => pings.dead++,
    cut: () => {
      isCut = true
    },
  }
  const alive = {
    isSilent: false,
    isBusy: () => false,
    ping: () => {
      pings.alive++
      alive.isSilent = false
    },
    cut: () => expect.unreachable('the live connection was closed'),
  }
  heartbeat.add(alive)
  const forget = heartbeat.add(dead)
  await until(() => isCut)
  expect(pings.dead).toBe(1)
  forget()
  await until(() => pings.alive >= 4)
  heartbeat.stop()
})
