import { expect, test } from 'vitest'
import { tortureFailover } from './failover.ts'

/** The short form; the whole one is `npm run torture -- failover`. */

const options = {
  failovers: 1,
  blocksPerSecond: 25,
  listeners: 3,
  seed: Date.now() % 1_000_000,
  onProgress: () => {},
}

test('a synchronous standby takes over with all that was acknowledged', async () => {
  const report = await tortureFailover({ ...options, isSynchronous: true })
  expect(report.faults).toEqual([])
  expect(report.timesMs).toHaveLength(1)
  expect(report.deliveries).toBeGreaterThan(0)
}, 300_000)

test('an asynchronous standby that lacks something is never taken in silence', async () => {
  const report = await tortureFailover({ ...options, isSynchronous: false })
  expect(report.faults).toEqual([])
  expect(report.lost).toBeGreaterThan(0)
  expect(report.deliveries).toBeGreaterThan(0)
}, 300_000)
