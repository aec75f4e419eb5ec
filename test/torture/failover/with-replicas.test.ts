import { expect, test } from 'vitest'
import { tortureWithReplicas } from './with-replicas.ts'

/** The short form; the whole one is `npm run torture -- failover-replicas`. */

test('replicas that have what the new primary lacks are left out until they are built anew, and nothing goes back', async () => {
  const report = await tortureWithReplicas({
    failovers: ['ahead'],
    blocksPerSecond: 25,
    listeners: 3,
    seed: Date.now() % 1_000_000,
    onProgress: () => {},
  })
  expect(report.faults).toEqual([])
  expect(report.rebuilt).toBe(2)
  expect(report.found).toBeGreaterThan(0)
  expect(report.deliveries).toBeGreaterThan(0)
}, 300_000)
