import { afterAll, beforeAll, expect, test } from 'vitest'
import { createStakers } from '../../src/service/accounts/stakers.ts'
import { type LogStore, openLogStore } from '../support/log-store.ts'

let log: LogStore
beforeAll(async () => {
  log = await openLogStore()
})
afterAll(() => log.close())

test('accounts that stake are read once a slot, and again after a read that failed', async () => {
  const { read } = log.store
  let reads = 0
  const stakers = createStakers({
    ...read,
    accountVersions: (slot) =>
      reads++ === 0 ? Promise.reject(new Error('away')) : read.accountVersions(slot),
  })
  await expect(Promise.all([stakers.at(0), stakers.at(0)])).rejects.toThrow('away')
  expect(reads).toBe(1)
  for (let i = 0; i < 2; i++) expect(await stakers.at(0)).toEqual([])
  expect(reads).toBe(2)
})
