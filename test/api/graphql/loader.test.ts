import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { GatewayContext } from '../../../src/api/graphql/builder.ts'
import { createLoader, readInParts } from '../../../src/api/graphql/loader.ts'
import { turnOf } from '../../../src/lib/turns.ts'

const context = { share: { client: 'reader' } } as GatewayContext

test('fields that load at the same depth share one read, and continue in turns of at most 512 fields', async () => {
  const reads: number[] = []
  const load = createLoader<number, string>(async (_, keys) => {
    reads.push(keys.length)
    return keys.map((key) => `value ${key}`)
  })
  await turnOf('reader')
  const continued: number[] = []
  let inThisTurn = 0
  const all = Array.from({ length: 2_000 }, async (_, key) => {
    const value = await load(context, key)
    if (inThisTurn++ === 0) {
      // Called in a promise job, because the tick runs after all promise jobs of this turn.
      process.nextTick(() => {
        continued.push(inThisTurn)
        inThisTurn = 0
      })
    }
    return value
  })
  const values = await Promise.all(all)
  await setImmediate()
  expect(reads).toEqual([2_000])
  expect(values).toEqual(values.map((_, key) => `value ${key}`))
  expect(continued).toEqual([512, 512, 512, 464])
})

test('a failed read fails all fields, also those of later turns', async () => {
  const load = createLoader<number, string>(async () => {
    throw new Error('away')
  })
  const all = Array.from({ length: 1_000 }, (_, key) => load(context, key))
  const settled = await Promise.allSettled(all)
  expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1_000)
})

test('a statement reads at most 2,000 rows, and other work runs between two of them', async () => {
  const keys = Array.from({ length: 4_100 }, (_, key) => key)
  const sizes: number[] = []
  let others = 0
  const counting = new AbortController()
  const other = (async () => {
    for (; !counting.signal.aborted; others++) await setImmediate()
  })()
  const seen: number[] = []
  const parts = await readInParts(context, keys, async (some) => {
    sizes.push(some.length)
    seen.push(others)
    return some
  })
  counting.abort()
  await other
  expect(parts.flat()).toEqual(keys)
  expect(sizes).toEqual([2_000, 2_000, 100])
  expect(new Set(seen).size).toBe(3)

  sizes.length = 0
  await readInParts(context, keys.slice(0, 100), async (some) => sizes.push(some.length), 50)
  expect(sizes).toEqual([40, 40, 20])
})
