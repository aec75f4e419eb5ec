import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createTurns, inLaterTurn, isTurnOver } from '../../src/lib/turns.ts'

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

describe('work in many parts', () => {
  function hold(ms: number): void {
    const until = performance.now() + ms
    while (performance.now() < until);
  }

  test('asks together whether the turn is over, which is another one after it', async () => {
    expect(isTurnOver()).toBe(false)
    hold(20)
    expect([isTurnOver(), isTurnOver()]).toEqual([true, true])
    await setImmediate()
    expect(isTurnOver()).toBe(false)
  })

  test('goes on in the order in which it waits, with others between what takes long', async () => {
    const seen: string[] = []
    const part = (name: string) =>
      inLaterTurn(() => {
        hold(20)
        seen.push(name)
        return name
      })
    const parts = Promise.all([part('a'), part('b'), part('c')])
    for (let n = 0; n < 3; n++) {
      await setImmediate()
      seen.push('other')
    }
    expect(await parts).toEqual(['a', 'b', 'c'])
    expect(seen.filter((name) => name !== 'other')).toEqual(['a', 'b', 'c'])
    expect(seen.slice(0, seen.lastIndexOf('c'))).toContain('other')
  })

  test('fails by itself', async () => {
    const failing = inLaterTurn(() => {
      throw new Error('this part')
    })
    const next = inLaterTurn(() => 'next')
    await expect(failing).rejects.toThrow('this part')
    expect(await next).toBe('next')
  })
})
