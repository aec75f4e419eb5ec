import { expect, test } from 'vitest'
import { torture } from './torture.ts'

test('every history equals the log, whatever is done to gateway and lines (1, 2, 3, 4, 11, 13)', async () => {
  const report = await torture({
    seconds: 8,
    kills: 2,
    listeners: 30,
    paymentsPerSecond: 20,
    seed: Date.now() % 1_000_000,
    onProgress: () => {},
  })
  expect(report.faults).toEqual([])
  // Without these the history would say little.
  expect(report.kills).toBe(2)
  expect(report.deliveries).toBeGreaterThan(1_000)
  expect(report.breaks).toBeGreaterThan(10)
}, 120_000)
