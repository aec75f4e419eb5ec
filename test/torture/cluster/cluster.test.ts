import { expect, test } from 'vitest'
import { tortureCluster } from './cluster.ts'
import { longestTakeover } from './print.ts'

/** The short form; the whole one is `npm run torture -- cluster`. */

test('what any of three gateways acknowledged is booked once and told to all, whoever dies', async () => {
  const report = await tortureCluster({
    outputs: 0,
    kills: 2,
    pauses: 1,
    cuts: 1,
    restarts: 1,
    blocks: 200,
    blocksPerSecond: 25,
    listeners: 6,
    isDurable: false,
    seed: Date.now() % 1_000_000,
    onProgress: () => {},
  })
  expect(report.faults).toEqual([])
  // Without these the verdict would say little.
  expect([report.afterKill.length, report.afterPause.length]).toEqual([2, 1])
  expect(report.recoveries.length).toBe(1)
  expect(report.cuts).toBeGreaterThan(0)
  expect(report.terms).toBeGreaterThanOrEqual(4)
  expect(report.deliveries).toBeGreaterThan(100)
  // Not a matter of speed: a lease that nobody renews runs out after three seconds.
  expect(longestTakeover(report)).toBeLessThan(10_000)
}, 300_000)
