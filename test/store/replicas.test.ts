import { describe, expect, test } from 'vitest'
import type { StoreNotification } from '../../src/store/contract.ts'
import { createPrimaryPositions } from '../../src/store/replicas/lag.ts'
import { createReadTarget, type ReadTarget } from '../../src/store/replicas/read-target.ts'
import { createReplicaNotifier } from '../../src/store/replicas/replica-notifier.ts'
import type { Server } from '../../src/store/replicas/server.ts'
import { until } from '../support/until.ts'

/** Returns a server that reports only its position. */
function targetAt(position: () => bigint, isPrimary: boolean): ReadTarget {
  const server: Pick<Server, 'lsn'> = { lsn: async () => position() }
  return createReadTarget(server as Server, isPrimary)
}

describe('the lag of a replica', () => {
  test('is the time for which the primary has had what the replica lacks, and 0 while nothing is written', async () => {
    const positions = createPrimaryPositions()
    expect(positions.lagOf(0n)).toBe(0)
    positions.add(10n)
    positions.add(20n)
    const since = performance.now()
    await until(() => performance.now() > since + 5)
    positions.add(20n)
    positions.add(30n)
    expect(positions.lagOf(30n)).toBe(0)
    expect(positions.lagOf(10n)).toBeGreaterThanOrEqual(5)
    expect(positions.lagOf(20n)).toBeLessThan(positions.lagOf(10n))
  })

  test('is measured again for a primary at an earlier position', () => {
    const positions = createPrimaryPositions()
    positions.add(100n)
    positions.add(50n)
    expect(positions.lagOf(50n)).toBe(0)
  })
})

describe('a notification', () => {
  test("is forwarded, in order, when the replica has reached the primary's position at its arrival", async () => {
    let written = 10n
    let replayed = 10n
    const forwarded: StoreNotification[] = []
    const primary = targetAt(() => written, true)
    const replica = targetAt(() => replayed, false)
    let current = replica
    const { notifyWhenReadable, close } = createReplicaNotifier(
      { primary, current: () => current, primaryLsn: () => primary.server.lsn() },
      (news) => forwarded.push(news),
    )
    const first = { topic: 'LOG_GREW', seq: 1 } as const
    const second = { topic: 'LOG_GREW', seq: 2 } as const
    written = 20n
    notifyWhenReadable(first)
    written = 30n
    notifyWhenReadable(second)
    replayed = 19n
    await until(() => replica.reached === 19n)
    expect(forwarded).toEqual([])
    replayed = 20n
    await until(() => forwarded.length > 0)
    expect(forwarded).toEqual([first])
    // Reads now use the primary, where everything written can be read.
    current = primary
    await until(() => forwarded.length > 1)
    expect(forwarded).toEqual([first, second])
    close()
  })
})
