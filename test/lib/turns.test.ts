import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  afterTurns,
  createTurns,
  isForConnections,
  isTurnOver,
  lookForConnections,
  nextTurn,
  restOfTurn,
  turnOf,
} from '../../src/lib/turns.ts'
import { leastOf } from '../support/least-of.ts'

test('long work yields to other work, and not too early', async () => {
  // Other programs on the machine would count as time of the work.
  let clock = 0
  vi.spyOn(performance, 'now').mockImplementation(() => clock)
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
  for (; clock < 200; clock++) await turns.pass()
  expect(others).toBeGreaterThanOrEqual(5)
  isOver = true
  await counting
  vi.restoreAllMocks()
})

function hold(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

describe('work in many parts', () => {
  test('agrees in every part on whether the turn is over, and begins another turn after it', async () => {
    expect(isTurnOver()).toBe(false)
    hold(20)
    expect([isTurnOver(), isTurnOver()]).toEqual([true, true])
    await setImmediate()
    expect(isTurnOver()).toBe(false)
  })

  test('continues in the order in which its parts wait, with other work in between', async () => {
    const order: string[] = []
    const part = async (name: string) => {
      await nextTurn()
      hold(20)
      order.push(name)
    }
    const parts = Promise.all([part('a'), part('b'), part('c')])
    for (let n = 0; n < 3; n++) {
      await setImmediate()
      order.push('other')
    }
    await parts
    expect(order.filter((name) => name !== 'other')).toEqual(['a', 'b', 'c'])
    expect(order.slice(0, order.lastIndexOf('c'))).toContain('other')
  })
})

describe('clients', () => {
  // Other programs on the machine would count as time of a turn.
  let clock = 0
  beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => clock))
  afterEach(() => void vi.restoreAllMocks())

  /** Takes a turn of a client, and holds the event loop for some time. */
  const work = async (order: string[], client: string, ms: number) => {
    await turnOf(client)
    clock += ms
    order.push(client)
  }

  test('with many requests wait behind those with few, even if these come later', async () => {
    const order: string[] = []
    const much = ['much', 'much', 'much', 'much'].map((client) => work(order, client, 15))
    await much[0]
    const little = ['a', 'b', 'c', 'a', 'b', 'c'].map((client) => work(order, client, 1))
    await Promise.all([...much, ...little])
    expect(order).toEqual(['much', 'a', 'b', 'c', 'a', 'b', 'c', 'much', 'much', 'much'])
  })

  test('with equal requests alternate, however many requests each has sent', async () => {
    const order: string[] = []
    const all = [...Array(9).fill('many'), 'few', 'few', 'few'].map((c) => work(order, c, 12))
    await Promise.all(all)
    expect(order.slice(0, 6).toSorted()).toEqual([
      ...Array(3).fill('few'),
      ...Array(3).fill('many'),
    ])
  })

  test('continue a yielded turn before their requests that have not started', async () => {
    const order: string[] = []
    const long = async () => {
      await turnOf('a')
      order.push('first part')
      clock += 15
      await nextTurn()
      order.push('second part')
    }
    await Promise.all([long(), work(order, 'a', 1), work(order, 'b', 1)])
    expect(order).toEqual(['first part', 'b', 'second part', 'a'])
  })

  test('continue after another wait as the same client, not as the gateway', async () => {
    const order: string[] = []
    const read = async () => {
      await setImmediate()
      await nextTurn('reader')
      order.push('read')
    }
    const turns = [work(order, 'reader', 15), read()]
    await turns[0]
    await Promise.all([...turns, work(order, 'quick', 1), work(order, 'quick', 1)])
    expect(order).toEqual(['reader', 'quick', 'quick', 'read'])
  })

  test('get the rest of a turn when all promises of the turn are settled', async () => {
    const order: string[] = []
    await turnOf('a')
    const last = restOfTurn('a').then(() => order.push('rest'))
    for (let i = 0; i < 10; i++) {
      await Promise.resolve()
      order.push('promise')
    }
    await last
    expect(order).toEqual([...Array(10).fill('promise'), 'rest'])
  })

  test('get the rest of a turn after all parts that continue in later turns', async () => {
    const order: string[] = []
    const parts = async (count: number) => {
      for (let n = 0; n < count; n++) {
        clock += 3
        await nextTurn('a')
        order.push('part')
      }
    }
    await turnOf('a')
    const all = parts(4)
    const rests = [restOfTurn('a'), restOfTurn('a')].map((rest) =>
      rest.then(() => order.push('rest')),
    )
    await Promise.all([all, ...rests])
    expect(order).toEqual([...Array(4).fill('part'), 'rest', 'rest'])
    await turnOf('a')
    const endless = parts(30)
    await restOfTurn('a')
    expect(order.filter((one) => one === 'part').length).toBeLessThan(4 + 30)
    await endless
  })

  test('of ten thousand take turns that cost about as much as those of a hundred', async () => {
    const costOf = async (clients: number, turns: number) => {
      const before = process.cpuUsage()
      const each = async (n: number) => {
        for (let turn = 0; turn < turns; turn++) {
          await turnOf(`client ${n}`)
          clock += ((n * 7_919 + turn) % 11) / 1_000
        }
      }
      await Promise.all(Array.from({ length: clients }, (_, n) => each(n)))
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    const few = await leastOf(() => costOf(100, 400), 0, 3)
    expect(await leastOf(() => costOf(10_000, 4), 4 * few)).toBeLessThan(4 * few)
  })

  test('leave two thirds of the time to new connections while they come, and use all of it afterwards', async () => {
    const order: string[] = []
    const works = ['a', 'b', 'c'].map((client) => work(order, client, 0.5))
    const phases: string[] = []
    for (const end = clock + 6; clock < end; clock++) {
      lookForConnections()
      await setImmediate()
      phases.push(order.splice(0).join(''))
    }
    expect(phases.slice(0, 4)).toEqual(Array(4).fill(''))
    expect(phases[4]).toBe('abc')
    await Promise.all(works)
    lookForConnections()
    for (let n = 0; n < 3; n++) await setImmediate()
    expect(isForConnections()).toBe(false)
  })

  describe('responses of clients', () => {
    const answer = async (order: string[], client: string, ms: number) => {
      await work(order, client, ms)
      afterTurns(() => order.push(`answer to ${client}`))
    }

    test('are sent together after the turns of a phase of the event loop, in their order', async () => {
      const order: string[] = []
      await Promise.all(['i', 'j', 'k'].map((client) => answer(order, client, 0.1)))
      await setImmediate()
      expect(order).toEqual(['i', 'j', 'k', 'answer to i', 'answer to j', 'answer to k'])
    })

    test('are held for at most a millisecond, and not over a turn that will probably be long', async () => {
      const order: string[] = []
      // The first turn of the second client predicts the length of its next one.
      const all = [answer(order, 'p', 0.1), answer(order, 'q', 1), answer(order, 'r', 0.1)]
      await Promise.all([...all, answer(order, 'p', 0.1), answer(order, 'q', 1)])
      await setImmediate()
      expect(order.slice(0, 5)).toEqual(['p', 'q', 'answer to p', 'answer to q', 'r'])
      expect(order.slice(5, 9)).toEqual(['p', 'answer to r', 'answer to p', 'q'])
    })

    test('are sent in the next phase if no turn produced them', async () => {
      const order: string[] = []
      await setImmediate()
      afterTurns(() => order.push('answer'))
      expect(order).toEqual([])
      await setImmediate()
      expect(order).toEqual(['answer'])
    })
  })

  test('start the requests of one client in the order of their arrival', async () => {
    const order: number[] = []
    const requests = Array.from({ length: 600 }, async (_, i) => {
      await turnOf('client')
      order.push(i)
    })
    await Promise.all(requests)
    expect(order).toEqual(Array.from({ length: 600 }, (_, i) => i))
  })
})
