import { expect, test } from 'vitest'
import { startHeartbeat } from '../../src/api/heartbeat.ts'
import { until } from '../support/until.ts'

test('cuts off whoever lets a round pass without a sign of life, and nobody else (12)', async () => {
  const heartbeat = startHeartbeat(110)
  const asked = { alive: 0, dead: 0 }
  let isCut = false
  const dead = {
    isSilent: false,
    ping: () => asked.dead++,
    cut: () => {
      isCut = true
    },
  }
  const alive = {
    isSilent: false,
    ping: () => {
      asked.alive++
      alive.isSilent = false
    },
    cut: () => expect.unreachable('the living one was cut off'),
  }
  heartbeat.add(alive)
  const forget = heartbeat.add(dead)
  await until(() => isCut)
  expect(asked.dead).toBe(1)
  forget()
  await until(() => asked.alive >= 4)
  heartbeat.stop()
})
