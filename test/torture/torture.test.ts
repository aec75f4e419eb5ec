import { expect, test } from 'vitest'
import { torture } from './torture.ts'

test('the updates that each subscriber receives equal the log, despite killed gateways and lost connections (1, 2, 3, 4, 11, 13)', async () => {
  const report = await torture({
    seconds: 8,
    kills: 2,
    subscribers: 30,
    paymentsPerSecond: 20,
    seed: Date.now() % 1_000_000,
    onProgress: () => {},
  })
  expect(report.faults).toEqual([])
  // With fewer failures the test would prove little.
  expect(report.kills).toBe(2)
  expect(report.deliveries).toBeGreaterThan(1_000)
  expect(report.breaks).toBeGreaterThan(10)
}, 120_000)
