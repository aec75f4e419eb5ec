import fc from 'fast-check'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { expectAnyRange } from '../support/feed-log.ts'
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
    await expectAnyRange(log, 150)
  })
})
