import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { silentLog } from '../../../src/lib/log.ts'
import { createSignal } from '../../../src/lib/signal.ts'
import type { CommitmentId } from '../../../src/protocol/primitives.ts'
import type { MilestoneRange } from '../../../src/store/contract/list.ts'
import type { StoreNotification, StoreReader } from '../../../src/store/contract.ts'
import { createChoice } from '../../../src/store/replicas/choice.ts'
import { createPrimaryPositions } from '../../../src/store/replicas/lag.ts'
import { createMoves } from '../../../src/store/replicas/moves.ts'
import { createReadTarget, type ReadTarget } from '../../../src/store/replicas/read-target.ts'
import { createReplicaNotifier } from '../../../src/store/replicas/replica-notifier.ts'
import { routedReads, routedSnapshot } from '../../../src/store/replicas/routed-reads.ts'
import type { Server } from '../../../src/store/replicas/server.ts'
import type { AddressPageQuery, LogTip, Milestone } from '../../../src/store/rows.ts'
import { until } from '../../support/until.ts'

/** A server whose log ends at the slot `at.slot`. */
function serverAt(name: string, at: ServerState): Server {
  const tip = (slot: number): LogTip => ({
    logId: '0x01',
    seq: slot,
    slot,
    commitmentId: `0x${slot}` as CommitmentId,
    prunedSeq: 0,
    prunedBranch: '0x',
    branch: '0x',
  })
  const milestone = (slot: number): Milestone => ({
    ...{ slot, commitmentId: tip(slot).commitmentId, bytes: new Uint8Array() },
    ...{ firstSeq: slot, lastSeq: slot },
  })
  const page = { count: 0, rows: [], hasRowsBehind: false, branches: [] }
  const reads: Partial<StoreReader> = {
    logTip: async () => tip(at.slot),
    addressPage: async () => ({ ...page, tip: tip(at.slot) }),
    latestMilestone: async () => milestone(at.slot),
    milestones: async () => [milestone(at.slot)],
    milestone: async (slot) => (slot <= at.slot ? milestone(slot) : undefined),
  }
  const unlessAway = () => {
    if (at.isAway) throw new Error('it is away')
  }
  const read = reads as StoreReader
  return {
    name,
    read,
    snapshot: async () => {
      let moment: number | undefined
      // As on PostgreSQL, the first read determines the moment.
      const logTip = async () => {
        moment ??= at.slot
        return tip(moment)
      }
      return { read: { ...read, logTip }, isStale: async () => false, end: () => {} }
    },
    state: async () => {
      unlessAway()
      return { lsn: 1n, isReplica: at.isReplica, tip: tip(at.slot) }
    },
    lsn: async () => {
      unlessAway()
      return 1n
    },
    isReplaced: () => false,
    close: async () => {},
  }
}

interface ServerState {
  slot: number
  isReplica: boolean
  isAway?: boolean
}

/** Reads that show the newest slot of a server. */
const readsOfNewest: readonly (readonly [string, (read: StoreReader) => Promise<unknown>])[] = [
  ['the tip', (read) => read.logTip()],
  ['a page', (read) => read.addressPage({} as AddressPageQuery)],
  ['the newest milestone', (read) => read.latestMilestone()],
  ['a list of milestones', (read) => read.milestones({} as MilestoneRange)],
  ['a milestone by its slot', (read) => read.milestone(6)],
]

/** The same reads, in a snapshot and outside, and no read. */
const waysToSee = [
  ...readsOfNewest.flatMap(([name, show]) => [
    [name, false, show] as const,
    [`${name} in a snapshot`, true, show] as const,
  ]),
  ['only a check', false, undefined] as const,
]

describe('reads that leave a replica', () => {
  test.each(waysToSee)(
    'wait until the primary shows the slot that the replica showed in %s',
    async (_name, isSnapshot, show) => {
      const primary: ServerState = { slot: 5, isReplica: false }
      const replica: ServerState = { slot: 5, isReplica: true }
      const { choice, routed, see } = choiceOf(primary, replica)
      await choice.check()
      expect(choice.current().server.name).toBe('replica')
      await routed.logTip()
      replica.slot = 6
      await see(isSnapshot, show)
      // The replica is promoted.
      replica.isReplica = false
      replica.slot = 5
      const left = choice.check()
      await until(() => choice.replicas[0]?.out !== undefined)
      const later = routed.logTip()
      await turnsPassed(20)
      primary.slot = 6
      expect(await later).toMatchObject({ slot: 6 })
      await left
      expect(choice.current().server.name).toBe('primary')
      await choice.close()
    },
  )
})

describe('reads that leave the primary', () => {
  test.each(waysToSee)(
    'do not move to a replica that lacks the slot that the primary showed in %s',
    async (_name, isSnapshot, show) => {
      const primary: ServerState = { slot: 5, isReplica: false }
      const replica: ServerState = { slot: 5, isReplica: true, isAway: true }
      const { choice, routed, see } = choiceOf(primary, replica)
      await choice.check()
      await routed.logTip()
      primary.slot = 6
      await see(isSnapshot, show)
      primary.isAway = true
      replica.isAway = false
      await choice.check()
      expect(choice.current().server.name).toBe('primary')
      replica.slot = 6
      await choice.check()
      expect(choice.current().server.name).toBe('replica')
      await choice.close()
    },
  )
})

test('a query that began at the primary shows nothing that the replica lacks to which the reads moved', async () => {
  const primary: ServerState = { slot: 5, isReplica: false }
  const replica: ServerState = { slot: 5, isReplica: true, isAway: true }
  const { choice, routed } = choiceOf(primary, replica)
  await choice.check()
  await routed.logTip()
  const { read, end } = await routedSnapshot(choice, routed)()
  replica.isAway = false
  await choice.check()
  expect(choice.current().server.name).toBe('replica')
  primary.slot = 6
  expect(await read.logTip()).toMatchObject({ slot: 5 })
  expect(await routed.logTip()).toMatchObject({ slot: 5 })
  end()
  await choice.close()
})

/** Creates the choice between two servers, and a function that shows what the chosen one has, by a read or by a check. */
function choiceOf(primary: ServerState, replica: ServerState) {
  const choice = createChoice({
    primary: serverAt('primary', primary),
    replicas: [() => serverAt('replica', replica)],
    maxLagMs: 1_000,
    log: silentLog,
    onMoved: () => {},
  })
  const routed = routedReads(choice)

  async function see(
    isSnapshot: boolean,
    show: ((read: StoreReader) => Promise<unknown>) | undefined,
  ): Promise<void> {
    if (show === undefined) return await choice.check()
    const snapshot = isSnapshot ? await routedSnapshot(choice, routed)() : undefined
    expect(await show(snapshot?.read ?? routed)).toBeDefined()
    snapshot?.end()
  }

  return { choice, routed, see }
}

describe('moves at the same time', () => {
  test('run one after the other, so that reads are held until the last has ended', async () => {
    const moved: string[] = []
    const waiting: (() => void)[] = []
    const position = createSignal()
    let positionReads = 0
    const whole = serverAt('primary', { slot: 5, isReplica: false })
    const state = async () => {
      await new Promise<void>((answer) => waiting.push(answer))
      return whole.state()
    }
    const primary = createReadTarget({ ...whole, state }, true)
    const replica = (name: string) => {
      const target = createReadTarget(serverAt(name, { slot: 5, isReplica: true }), false)
      return Object.assign(target, { out: undefined })
    }
    const [lost, other] = [replica('lost'), replica('other')]
    const moves = createMoves({
      primary,
      replicas: [lost, other],
      primaryLsn: async () => {
        if (++positionReads > 1) await position.wait()
        return 1n
      },
      log: { info: (_event, fields) => void moved.push(String(fields?.to)) },
      onMoved: () => {},
    })
    moves.move(lost, 'it is usable')
    // Two reads fail at once.
    const left = [moves.moveFrom(lost, 'it is gone'), moves.moveFrom(lost, 'it is gone')]
    await until(() => waiting.length > 0)
    waiting[0]?.()
    await until(() => moves.current() === primary && !moves.isHeld())
    const movedTo = moves.moveTo(other)
    await until(() => positionReads === 2)
    for (const answer of waiting) answer()
    await Promise.all(left)
    expect(moves.isHeld()).toBe(true)
    position.notify()
    await movedTo
    expect(moves.current()).toBe(other)
    expect(moved).toEqual(['lost', 'primary', 'other'])
  })
})

async function turnsPassed(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await setImmediate()
}

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
