import { expect, test } from 'vitest'
import { tortureReplicas } from './replicas.ts'

/** The short form of `npm run torture -- replicas`. */

test('subscribers of three gateways receive each update once, despite failures of the replicas', async () => {
  const report = await tortureReplicas({
    troubles: ['pause', 'promote'],
    blocksPerSecond: 20,
    subscribers: 2,
    seed: Date.now() % 1_000_000,
    onProgress: () => {},
  })
  expect(report.faults).toEqual([])
  expect(report.timesMs).toHaveLength(2)
  expect(report.found).toBeGreaterThan(0)
  expect(report.deliveries).toBeGreaterThan(0)
  const [toFirst, toLate] = report.moves
  expect(toFirst).toBeGreaterThanOrEqual(2)
  expect(toLate).toBeGreaterThanOrEqual(1)
}, 300_000)
