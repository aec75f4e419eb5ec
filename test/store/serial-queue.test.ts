import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createSerialQueue } from '../../src/store/serial-queue.ts'

describe('a serial queue', () => {
  test('runs one task at a time, in the order of the requests, and continues after a failure', async () => {
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

  test('leaves turns of the event loop to other work', async () => {
    const turns = createSerialQueue()
    let ended = 0
    const all = Array.from({ length: 5 }, () => turns.take(async () => ++ended))
    await setImmediate()
    await setImmediate()
    expect(ended).toBeLessThan(5)
    expect(await Promise.all(all)).toEqual([1, 2, 3, 4, 5])
  })

  test('closes after the queued tasks, and rejects later ones', async () => {
    const turns = createSerialQueue()
    const events: string[] = []
    const queued = turns.take(async () => events.push('asked'))
    await turns.close()
    expect(events).toEqual(['asked'])
    expect(await queued).toBe(1)
    await expect(turns.take(async () => events.push('late'))).rejects.toThrow('the store is open')
  })
})
