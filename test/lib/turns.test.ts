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

test('others have their turn while long work passes it on, and none is passed on too early', async () => {
  // What else runs on the machine would count as time of the work.
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
  test('asks together whether the turn is over, which is another one after it', async () => {
    expect(isTurnOver()).toBe(false)
    hold(20)
    expect([isTurnOver(), isTurnOver()]).toEqual([true, true])
    await setImmediate()
    expect(isTurnOver()).toBe(false)
  })

  test('goes on in the order in which it waits, with others between what takes long', async () => {
    const seen: string[] = []
    const part = async (name: string) => {
      await nextTurn()
      hold(20)
      seen.push(name)
    }
    const parts = Promise.all([part('a'), part('b'), part('c')])
    for (let n = 0; n < 3; n++) {
      await setImmediate()
      seen.push('other')
    }
    await parts
    expect(seen.filter((name) => name !== 'other')).toEqual(['a', 'b', 'c'])
    expect(seen.slice(0, seen.lastIndexOf('c'))).toContain('other')
  })
})

describe('between clients', () => {
  // What else runs on the machine would count as time of a turn.
  let clock = 0
  beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => clock))
  afterEach(() => void vi.restoreAllMocks())

  /** What a client does in a turn of its own, which holds the loop for a while. */
  const work = async (seen: string[], client: string, ms: number) => {
    await turnOf(client)
    clock += ms
    seen.push(client)
  }

  test('one that asks for much waits behind those that ask for little, also where they come later', async () => {
    const seen: string[] = []
    const much = ['much', 'much', 'much', 'much'].map((client) => work(seen, client, 15))
    await much[0]
    const little = ['a', 'b', 'c', 'a', 'b', 'c'].map((client) => work(seen, client, 1))
    await Promise.all([...much, ...little])
    expect(seen).toEqual(['much', 'a', 'b', 'c', 'a', 'b', 'c', 'much', 'much', 'much'])
  })

  test('clients that ask for the same amount alternate, however many requests each has sent', async () => {
    const seen: string[] = []
    const all = [...Array(9).fill('many'), 'few', 'few', 'few'].map((c) => work(seen, c, 12))
    await Promise.all(all)
    expect(seen.slice(0, 6).toSorted()).toEqual([...Array(3).fill('few'), ...Array(3).fill('many')])
  })

  test('what a turn has left for later belongs to its client, and goes before what that has not begun', async () => {
    const seen: string[] = []
    const long = async () => {
      await turnOf('a')
      seen.push('first part')
      clock += 15
      await nextTurn()
      seen.push('second part')
    }
    await Promise.all([long(), work(seen, 'a', 1), work(seen, 'b', 1)])
    expect(seen).toEqual(['first part', 'b', 'second part', 'a'])
  })

  test('what has waited for something else goes on as its client, not as the work of the gateway', async () => {
    const seen: string[] = []
    const read = async () => {
      await setImmediate()
      await nextTurn('reader')
      seen.push('read')
    }
    const turns = [work(seen, 'reader', 15), read()]
    await turns[0]
    await Promise.all([...turns, work(seen, 'quick', 1), work(seen, 'quick', 1)])
    expect(seen).toEqual(['reader', 'quick', 'quick', 'read'])
  })

  test('the rest of a turn comes when all promises of the turn have been settled', async () => {
    const seen: string[] = []
    await turnOf('a')
    const last = restOfTurn('a').then(() => seen.push('rest'))
    for (let i = 0; i < 10; i++) {
      await Promise.resolve()
      seen.push('promise')
    }
    await last
    expect(seen).toEqual([...Array(10).fill('promise'), 'rest'])
  })

  test('turns leave two thirds of the time to connections as long as they come, and all of it afterwards', async () => {
    const seen: string[] = []
    const works = ['a', 'b', 'c'].map((client) => work(seen, client, 1))
    const phases: string[] = []
    for (const end = clock + 15; clock < end; clock++) {
      lookForConnections()
      await setImmediate()
      phases.push(seen.splice(0).join(''))
    }
    expect(phases.slice(0, 10)).toEqual(Array(10).fill(''))
    expect(phases[10]).toBe('abc')
    await Promise.all(works)
    lookForConnections()
    for (let n = 0; n < 3; n++) await setImmediate()
    expect(isForConnections()).toBe(false)
  })

  describe('answers leave together', () => {
    const answer = async (seen: string[], client: string, ms: number) => {
      await work(seen, client, ms)
      afterTurns(() => seen.push(`answer to ${client}`))
    }

    test('after the turns of a phase of the loop, in their order', async () => {
      const seen: string[] = []
      await Promise.all(['i', 'j', 'k'].map((client) => answer(seen, client, 0.1)))
      await setImmediate()
      expect(seen).toEqual(['i', 'j', 'k', 'answer to i', 'answer to j', 'answer to k'])
    })

    test('but do not wait for a millisecond, nor for a turn that will probably be long', async () => {
      const seen: string[] = []
      // The first turn of the second one says how long its next will be.
      const all = [answer(seen, 'p', 0.1), answer(seen, 'q', 1), answer(seen, 'r', 0.1)]
      await Promise.all([...all, answer(seen, 'p', 0.1), answer(seen, 'q', 1)])
      await setImmediate()
      expect(seen.slice(0, 5)).toEqual(['p', 'q', 'answer to p', 'answer to q', 'r'])
      expect(seen.slice(5, 9)).toEqual(['p', 'answer to r', 'answer to p', 'q'])
    })

    test('and go in the next phase where they are made in no turn', async () => {
      const seen: string[] = []
      await setImmediate()
      afterTurns(() => seen.push('answer'))
      expect(seen).toEqual([])
      await setImmediate()
      expect(seen).toEqual(['answer'])
    })
  })

  test('the requests of one client are begun in the order in which they came', async () => {
    const seen: number[] = []
    const asked = Array.from({ length: 600 }, async (_, i) => {
      await turnOf('client')
      seen.push(i)
    })
    await Promise.all(asked)
    expect(seen).toEqual(Array.from({ length: 600 }, (_, i) => i))
  })
})
