import { expect, test } from 'vitest'
import { tortureWithReplicas } from './with-replicas.ts'

/** The short form of `npm run torture -- failover-replicas`. */

test('replicas with slots that the new primary lacks are left out until they are rebuilt, and no gateway shows an older slot again', async () => {
  const report = await tortureWithReplicas({
    failovers: ['ahead'],
    blocksPerSecond: 25,
    subscribers: 3,
    seed: Date.now() % 1_000_000,
    onProgress: () => {},
  })
  expect(report.faults).toEqual([])
  expect(report.rebuilt).toBe(2)
  expect(report.found).toBeGreaterThan(0)
  expect(report.deliveries).toBeGreaterThan(0)
}, 300_000)
