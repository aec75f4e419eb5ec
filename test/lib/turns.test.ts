import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTurns } from '../../src/lib/turns.ts'

test('others have their turn while long work passes it on, and none is passed on too early', async () => {
  const turns = createTurns(20)
  let others = 0
  let isOver = false
  const counting = (async () => {
    while (!isOver) {
      await setImmediate()
      others++
    }
  })()
  await turns.pass()
  expect(others).toBe(0)
  const until = performance.now() + 200
  while (performance.now() < until) await turns.pass()
  expect(others).toBeGreaterThanOrEqual(5)
  isOver = true
  await counting
})
