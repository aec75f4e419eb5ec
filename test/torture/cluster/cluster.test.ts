import { expect, test } from 'vitest'
import { tortureCluster } from './cluster.ts'
import { longestTakeover } from './print.ts'

/** The short form of `npm run torture -- cluster`. */

test('each block that one of three gateways acknowledges is booked once and sent to all subscribers, despite failures', async () => {
  const report = await tortureCluster({
    outputs: 0,
    kills: 2,
    pauses: 1,
    cuts: 1,
    restarts: 1,
    blocks: 200,
    blocksPerSecond: 25,
    subscribers: 6,
    isDurable: false,
    seed: Date.now() % 1_000_000,
    onProgress: () => {},
  })
  expect(report.faults).toEqual([])
  // With fewer failures the test would prove little.
  expect([report.afterKill.length, report.afterPause.length]).toEqual([2, 1])
  expect(report.recoveries.length).toBe(1)
  expect(report.cuts).toBeGreaterThan(0)
  expect(report.terms).toBeGreaterThanOrEqual(4)
  expect(report.deliveries).toBeGreaterThan(100)
  // This does not test speed: a lease that is not renewed expires after three seconds.
  expect(longestTakeover(report)).toBeLessThan(10_000)
}, 300_000)
