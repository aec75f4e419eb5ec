import { expect, test } from 'vitest'
import { tortureReplicas } from './replicas.ts'

/** The short form; the whole one is `npm run torture -- replicas`. */

test('no follower of three gateways misses or repeats, whatever becomes of the replicas', async () => {
  const report = await tortureReplicas({
    troubles: ['pause', 'promote'],
    blocksPerSecond: 20,
    listeners: 2,
    seed: Date.now() % 1_000_000,
    onProgress: () => {},
  })
  expect(report.faults).toEqual([])
  expect(report.timesMs).toHaveLength(2)
  expect(report.found).toBeGreaterThan(0)
  expect(report.deliveries).toBeGreaterThan(0)
  const [toTroubled, toLate] = report.moves
  expect(toTroubled).toBeGreaterThanOrEqual(2)
  expect(toLate).toBeGreaterThanOrEqual(1)
}, 300_000)
