import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FeedRange, followUpdates, readUpdates } from '../../src/feed/read.ts'
import { createWake, type Wake } from '../../src/feed/wake.ts'
import type { LedgerUpdate, LogRange, UpdateClass } from '../../src/store/rows.ts'
import {
  addresses,
  type LogStore,
  type ModelRow,
  openLogStore,
  outputIdOf,
  slotEntries,
} from '../support/log-store.ts'

const anyFilter = fc.record(
  {
    addresses: fc.uniqueArray(fc.constantFrom(...addresses), { minLength: 1 }),
    classes: fc.constantFrom<UpdateClass[]>(['OWNED'], ['MENTIONED'], ['OWNED', 'MENTIONED']),
  },
  { requiredKeys: ['classes'] },
)

type Filter = Pick<FeedRange, 'addresses' | 'classes'>

/** Long enough that only wake-ups can end a wait within a test. */
const neverMs = 2 ** 30
/** Short enough that a test may wait for it, where no wake-up comes. */
const soonMs = 1

let log: LogStore

beforeAll(async () => {
  log = await openLogStore()
  const [slots] = fc.sample(fc.array(slotEntries, { minLength: 20, maxLength: 20 }), {
    seed: 6,
    numRuns: 1,
  })
  await log.commit(...(slots ?? []))
})
afterAll(() => log.close())

describe('one read', () => {
  test('gives the rows of any range of the log, over any addresses and classes', async () => {
    const anyRange = fc.record({
      after: fc.nat({ max: 150 }),
      before: fc.nat({ max: 150 }),
      limit: fc.nat({ max: 20 }),
      order: fc.constantFrom<'ascending' | 'descending'>('ascending', 'descending'),
    })
    await fc.assert(
      fc.asyncProperty(anyFilter, anyRange, async (filter, range) => {
        const rows = await readUpdates(log.store.read, { ...filter, ...range })
        const inside = matching(log.rows, filter).filter(
          (row) => row.seq > range.after && row.seq < range.before,
        )
        const turned = range.order === 'ascending' ? inside : inside.reverse()
        expect(seqsOf(rows)).toEqual(seqsOf(turned.slice(0, range.limit)))
      }),
    )
  })
})

describe('feed', () => {
  test('resumed from any position equals the uninterrupted one', async () => {
    const anyStart = fc.nat({ max: log.rows.length })
    const anyLimit = fc.integer({ min: 1, max: 30 })
    await fc.assert(
      fc.asyncProperty(
        anyFilter,
        anyStart,
        anyLimit,
        fc.infiniteStream(fc.nat({ max: 3 })),
        async (filter, after, limit, cuts) => {
          const expected = seqsOf(matching(log.rows, filter).filter((row) => row.seq > after))
          const told: number[] = []
          let position = after
          // Each connection lives for some batches only; the next one resumes from its last position.
          while (told.length < expected.length) {
            const batches = 1 + (cuts.next().value ?? 0)
            const range = { ...filter, after: position, limit }
            for (const batch of await takeBatches(range, batches, expected.length - told.length)) {
              expect(batch.rows.length).toBeGreaterThan(0)
              told.push(...seqsOf(batch.rows))
              position = batch.position
            }
          }
          expect(told).toEqual(expected)
        },
      ),
    )
  })

  test('goes live without a seam while slots are committed', async () => {
    const own = await openLogStore()
    const slots = fc.sample(slotEntries, { seed: 9, numRuns: 30 })
    const feeds = fc.sample(anyFilter, { seed: 3, numRuns: 12 })
    const wake = createWake()
    await own.commit(...slots.slice(0, 10))
    const runs = feeds.map((filter, i) => follow(own, wake, { ...filter, after: 0, limit: 1 + i }))
    for (const slot of slots.slice(10)) {
      await own.commit(slot)
      wake.notify(own.rows.length)
    }
    for (const [i, run] of runs.entries()) {
      const expected = seqsOf(matching(own.rows, feeds[i] ?? { classes: [] }))
      expect(await run.until(expected.length)).toEqual(expected)
    }
    expect(wake.waiting()).toBe(0)
    await own.close()
  })

  test('misses nothing of one address when a slot is committed before the next one is read', async () => {
    const own = await openLogStore()
    const [early = '0x', late = '0x'] = addresses
    const entry = { class: 'OWNED', roles: ['OWNER'], isSpent: false } as const
    const commit = () =>
      own.commit(
        [early, late].map((address) => ({
          ...entry,
          address,
          outputId: outputIdOf('11', own.slot()),
        })),
      )
    await commit()
    let isFirst = true
    const reader = {
      ...own.store.read,
      updates: async (range: LogRange) => {
        if (range.address === early || !isFirst) return await own.store.read.updates(range)
        isFirst = false
        await commit()
        return await own.store.read.updates(range)
      },
    }
    const range = { addresses: [early, late], classes: ['OWNED'], after: 0, limit: 10 } as const
    const run = follow(
      { ...own, store: { ...own.store, read: reader } },
      createWake(),
      range,
      soonMs,
    )
    expect(await run.until(4)).toEqual([1, 2, 3, 4])
    await own.close()
  })

  test('finds what was committed by the tick when every wake-up is lost', async () => {
    const own = await openLogStore()
    const wake = createWake()
    const run = follow(own, wake, { classes: ['OWNED', 'MENTIONED'], after: 0, limit: 10 }, soonMs)
    for (const slot of fc.sample(slotEntries, { seed: 4, numRuns: 10 })) await own.commit(slot)
    expect(await run.until(own.rows.length)).toEqual(seqsOf(own.rows))
    await own.close()
  })

  test('waits, instead of reading again and again, when it heard of more than it can read', async () => {
    const wake = createWake()
    let reads = 0
    const reader = {
      ...log.store.read,
      logTip: () => {
        reads++
        return log.store.read.logTip()
      },
    }
    const controller = new AbortController()
    const range = { classes: ['OWNED'], after: log.rows.length, limit: 10 } as const
    const feed = followUpdates(
      { reader, wake, tickMs: neverMs },
      { ...range, signal: controller.signal },
    )
    wake.notify(log.rows.length + 5)
    const end = feed.next()
    while (wake.waiting() === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(reads).toBe(2)
    controller.abort()
    expect(await end).toEqual({ done: true, value: undefined })
  })
})

function matching(rows: readonly ModelRow[], filter: Filter): ModelRow[] {
  return rows.filter(
    (row) =>
      filter.classes.includes(row.class) && (filter.addresses?.includes(row.address) ?? true),
  )
}

function seqsOf(rows: readonly Pick<LedgerUpdate, 'seq'>[]): number[] {
  return rows.map((row) => row.seq)
}

/** Follows for a number of batches, fewer where the rows that are there do not suffice. */
async function takeBatches(range: Omit<FeedRange, 'signal'>, batches: number, rowsLeft: number) {
  const controller = new AbortController()
  const deps = { reader: log.store.read, wake: createWake(), tickMs: neverMs }
  const taken = []
  let rows = 0
  for await (const batch of followUpdates(deps, { ...range, signal: controller.signal })) {
    taken.push(batch)
    rows += batch.rows.length
    if (taken.length === batches || rows >= rowsLeft) break
  }
  return taken
}

/** Follows in the background; `until` resolves with all positions told once there are so many. */
function follow(source: LogStore, wake: Wake, range: Omit<FeedRange, 'signal'>, tickMs = neverMs) {
  const controller = new AbortController()
  const told: number[] = []
  const deps = { reader: source.store.read, wake, tickMs }
  let check = () => {}

  const ended = (async () => {
    for await (const batch of followUpdates(deps, { ...range, signal: controller.signal })) {
      told.push(...seqsOf(batch.rows))
      check()
    }
  })()

  async function until(count: number): Promise<number[]> {
    await new Promise<void>((resolve) => {
      check = () => told.length >= count && resolve()
      check()
    })
    controller.abort()
    await ended
    return told
  }

  return { until }
}
