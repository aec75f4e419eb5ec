import { describe, expect, test } from 'vitest'
import type { StoreNotification } from '../../src/store/contract.ts'
import { createAnnouncer } from '../../src/store/replicas/announcer.ts'
import { createPrimaryPast } from '../../src/store/replicas/lag.ts'
import { type Place, placeOf } from '../../src/store/replicas/place.ts'
import type { Server } from '../../src/store/replicas/server.ts'
import { until } from '../support/until.ts'

/** A server of which only the position is asked. */
function placeAt(position: () => bigint, isPrimary: boolean): Place {
  const server: Pick<Server, 'lsn'> = { lsn: async () => position() }
  return placeOf(server as Server, isPrimary)
}

describe('the lag of a replica', () => {
  test('is the time for which the primary has had what it lacks, and none while nothing is written', async () => {
    const past = createPrimaryPast()
    expect(past.lagOf(0n)).toBe(0)
    past.add(10n)
    past.add(20n)
    const since = performance.now()
    await until(() => performance.now() > since + 5)
    past.add(20n)
    past.add(30n)
    expect(past.lagOf(30n)).toBe(0)
    expect(past.lagOf(10n)).toBeGreaterThanOrEqual(5)
    expect(past.lagOf(20n)).toBeLessThan(past.lagOf(10n))
  })

  test('is counted anew at a primary that is at an earlier position', () => {
    const past = createPrimaryPast()
    past.add(100n)
    past.add(50n)
    expect(past.lagOf(50n)).toBe(0)
  })
})

describe('a notification', () => {
  test('is passed on when the replica has what the primary had as it came, in order', async () => {
    let written = 10n
    let replayed = 10n
    const heard: StoreNotification[] = []
    const primary = placeAt(() => written, true)
    const replica = placeAt(() => replayed, false)
    let current = replica
    const { announce, close } = createAnnouncer(
      { primary, current: () => current, primaryLsn: () => primary.server.lsn() },
      (news) => heard.push(news),
    )
    const first = { topic: 'LOG_GREW', seq: 1 } as const
    const second = { topic: 'LOG_GREW', seq: 2 } as const
    written = 20n
    announce(first)
    written = 30n
    announce(second)
    replayed = 19n
    await until(() => replica.reached === 19n)
    expect(heard).toEqual([])
    replayed = 20n
    await until(() => heard.length > 0)
    expect(heard).toEqual([first])
    // Reads have moved: whatever is there can be read.
    current = primary
    await until(() => heard.length > 1)
    expect(heard).toEqual([first, second])
    close()
  })
})
