import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readUpdates } from '../../src/feed/read.ts'
import { anyFilter, matching, seqsOf } from '../support/feed-log.ts'
import { type LogStore, openLogStore, slotEntries } from '../support/log-store.ts'

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
  test('returns the rows of any range of the log, for any addresses and classes', async () => {
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
