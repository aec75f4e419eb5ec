import { expect, test } from 'vitest'
import { tortureFailover } from './failover.ts'

/** The short form of `npm run torture -- failover`. */

const options = {
  failovers: 1,
  blocksPerSecond: 25,
  subscribers: 3,
  seed: Date.now() % 1_000_000,
  onProgress: () => {},
}

test('a synchronous standby takes over with all acknowledged blocks', async () => {
  const report = await tortureFailover({ ...options, isSynchronous: true })
  expect(report.faults).toEqual([])
  expect(report.timesMs).toHaveLength(1)
  expect(report.deliveries).toBeGreaterThan(0)
}, 300_000)

test('gateways report when an asynchronous standby takes over without some acknowledged blocks', async () => {
  const report = await tortureFailover({ ...options, isSynchronous: false })
  expect(report.faults).toEqual([])
  expect(report.lost).toBeGreaterThan(0)
  expect(report.deliveries).toBeGreaterThan(0)
}, 300_000)
