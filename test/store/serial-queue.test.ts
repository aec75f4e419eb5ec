import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createSerialQueue } from '../../src/store/serial-queue.ts'

describe('turns', () => {
  test('are taken one at a time, in the order asked, past a failure', async () => {
    const turns = createSerialQueue()
    const events: string[] = []
    const work = (name: string) => async () => {
      events.push(`${name} begins`)
      await setImmediate()
      events.push(`${name} ends`)
      if (name === 'second') throw new Error('second failed')
      return name
    }
    const outcomes = await Promise.allSettled(
      ['first', 'second', 'third'].map((name) => turns.take(work(name))),
    )
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(events).toEqual(
      ['first', 'second', 'third'].flatMap((name) => [`${name} begins`, `${name} ends`]),
    )
  })

  test('leave the event loop its own turns', async () => {
    const turns = createSerialQueue()
    let ended = 0
    const all = Array.from({ length: 5 }, () => turns.take(async () => ++ended))
    await setImmediate()
    await setImmediate()
    expect(ended).toBeLessThan(5)
    expect(await Promise.all(all)).toEqual([1, 2, 3, 4, 5])
  })

  test('close after those asked, and refuse those that come later', async () => {
    const turns = createSerialQueue()
    const events: string[] = []
    const asked = turns.take(async () => events.push('asked'))
    await turns.close()
    expect(events).toEqual(['asked'])
    expect(await asked).toBe(1)
    await expect(turns.take(async () => events.push('late'))).rejects.toThrow('the store is open')
  })
})
