import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/lib/log.ts'
import type { StoreSnapshot } from '../../src/store/contract.ts'
import type { Database, Parameter } from '../../src/store/database.ts'
import { isStoreAway } from '../../src/store/faults.ts'
import { openDatabase } from '../../src/store/open.ts'
import { createReader } from '../../src/store/reader.ts'
import { SnapshotOver } from '../../src/store/snapshot-session.ts'
import { createSnapshots, type Snapshots } from '../../src/store/snapshots.ts'
import { databases, onDatabase, useStore } from '../support/databases.ts'
import { entry, slotCommit, testGenesis } from '../support/store-rows.ts'
import { startPooler } from '../support/transaction-pooler.ts'
import { until } from '../support/until.ts'

/** Tests reads that all show one moment. */

describe.each(databases)('a snapshot on $name', ({ name, create }) => {
  const use = useStore(create)
  let database: Database
  let snapshots: Snapshots
  let slot: number

  beforeEach(async () => {
    slot = 0
    await use.store.write.initialize(use.term, testGenesis({ commit: slotCommit(0) }))
    await use.store.write.closeSlots(use.term, 1_000)
    await open(use.url)
  })
  afterEach(close)

  async function open(url: string, maxMs?: number): Promise<void> {
    const opened = await openDatabase({ url, log: silentLog })
    if (!opened.ok) throw new Error(opened.error.code)
    database = opened.value
    snapshots = createSnapshots(database, createReader(database), maxMs)
  }

  async function close(): Promise<void> {
    snapshots.close()
    await database.close()
  }

  async function reopen(url: string, maxMs?: number): Promise<void> {
    await close()
    await open(url, maxMs)
  }

  async function commit(): Promise<void> {
    slot++
    await use.store.write.commitSlots(use.term, [slotCommit(slot, [entry(slot, slot)])])
  }

  /** Returns the newest slot by several reads of a snapshot. Each read takes one or two statements. */
  async function slotsIn({ read }: StoreSnapshot): Promise<readonly number[]> {
    const page = { after: 0, before: 1_000, limit: 1, order: 'descending' } as const
    const { tip, count } = await read.addressPage({ ...page, address: '0x00', class: 'OWNED' })
    expect(count).toBe(0)
    const [update] = await read.updates({ ...page, classes: ['OWNED', 'MENTIONED'] })
    return [
      tip.slot,
      (await read.latestMilestone()).slot,
      (await read.logTip()).seq,
      update?.milestoneIndex ?? 0,
      (await read.milestonesAfter(0, 100)).length,
    ]
  }

  test('reads what was committed before it began, and nothing after', async () => {
    for (let n = 0; n < 3; n++) {
      const snapshot = await snapshots.begin()
      const began = slot
      const read: (readonly number[])[] = []
      for (let round = 0; round < 3; round++) {
        read.push(await slotsIn(snapshot))
        await commit()
      }
      expect(read).toEqual(read.map(() => [began, began, began, began, began]))
      snapshot.end()
    }
  })

  test('runs a query without parameters once', async () => {
    const queries: string[] = []
    const counted = {
      ...database,
      snapshotConnection: () => {
        const connection = database.snapshotConnection()
        return {
          ...connection,
          query: (sql: string, parameters: readonly Parameter[]) => {
            queries.push(sql)
            return connection.query(sql, parameters)
          },
        }
      },
    }
    const once = createSnapshots(counted, createReader(database))
    for (let n = 1; n <= 2; n++) {
      const { read, end } = await once.begin()
      const milestones = await Promise.all([read.latestMilestone(), read.latestMilestone()])
      expect(milestones.map((one) => one.slot)).toEqual([slot, slot])
      expect((await read.latestMilestone()).slot).toBe(slot)
      // One statement reads the tip and its milestone.
      expect((await read.logTip()).slot).toBe(slot)
      expect(queries).toHaveLength(n)
      end()
      await commit()
    }
    once.close()
  })

  test('may coexist with many others, each of its own moment', async () => {
    const held: { readonly snapshot: StoreSnapshot; readonly began: number }[] = []
    for (let n = 0; n < database.maxSnapshots; n++) {
      const snapshot = await snapshots.begin()
      expect((await snapshot.read.logTip()).slot).toBe(slot)
      held.push({ snapshot, began: slot })
      await commit()
    }
    for (const { snapshot, began } of held) {
      expect(new Set(await slotsIn(snapshot))).toEqual(new Set([began]))
    }
    // One more waits for the first of them to end; single statements do not wait.
    let isThere = false
    const next = snapshots.begin().then((snapshot) => {
      isThere = true
      return snapshot
    })
    expect(await database.query('SELECT 1', [])).toEqual([[1]])
    expect(isThere).toBe(false)
    held[3]?.snapshot.end()
    expect(new Set(await slotsIn(await next))).toEqual(new Set([slot]))
    for (const [n, { snapshot }] of held.entries()) if (n !== 3) snapshot.end()
    ;(await next).end()
  })

  test('that lasts too long fails and frees its place', async () => {
    await reopen(use.url, 1_000)
    const late = await snapshots.begin()
    const isOver = async () => {
      const failure: unknown = await late.read.latestMilestone().catch((error: unknown) => error)
      return failure instanceof SnapshotOver
    }
    await until(isOver, { what: 'the snapshot is over' })
    for (let n = 0; n < 2 * database.maxSnapshots; n++) {
      const snapshot = await snapshots.begin()
      expect(new Set(await slotsIn(snapshot))).toEqual(new Set([slot]))
      snapshot.end()
    }
    await expect(late.read.logTip()).rejects.toThrow(SnapshotOver)
    late.end()
  })

  test('that gets no place within the longest duration of a snapshot fails', async () => {
    const unshared = {
      ...database,
      changes: () => undefined,
      snapshotConnection: () => ({ ...database.snapshotConnection(), hasMoment: () => true }),
    }
    const few = createSnapshots(unshared, createReader(database), 1_000)
    const begun = Array.from({ length: 2 * database.maxSnapshots + 3 }, () =>
      few.begin().then(
        () => 'BEGUN',
        (failure: unknown) => (failure instanceof SnapshotOver ? 'OVER' : failure),
      ),
    )
    const outcomes = await Promise.all(begun)
    // None is ended explicitly: the first ones give up their places when they have lasted too long, and the last ones get none before that.
    const places = 2 * database.maxSnapshots
    expect(outcomes.slice(0, places)).toEqual(Array(places).fill('BEGUN'))
    expect(outcomes.slice(places)).toEqual(['OVER', 'OVER', 'OVER'])
    few.close()
  })

  test.runIf(name === 'sqlite')('is shared by requests between two commits', async () => {
    const [one, other] = [await snapshots.begin(), await snapshots.begin()]
    expect(other.read).toBe(one.read)
    await commit()
    const later = await snapshots.begin()
    expect(later.read).not.toBe(one.read)
    one.end()
    // The other request still holds the snapshot.
    expect(new Set(await slotsIn(other))).toEqual(new Set([0]))
    other.end()
    later.end()
  })

  /** Creates snapshots on connections that record when a transaction begins and ends. */
  function recordedSnapshots(): { readonly all: Snapshots; readonly events: string[] } {
    const events: string[] = []
    const snapshotConnection = () => {
      const connection = database.snapshotConnection()
      const { begin, end } = connection
      const note = (what: string, run: () => Promise<void>) => async () => {
        events.push(what)
        await run()
      }
      return { ...connection, begin: note('BEGIN', begin), end: note('END', end) }
    }
    return {
      all: createSnapshots({ ...database, snapshotConnection }, createReader(database)),
      events,
    }
  }

  /** The first snapshot of a connection checks whether this is the server itself, and so its moment is set at once. */
  async function checkServer(all: Snapshots): Promise<void> {
    const first = await all.begin()
    first.end()
    // Its transaction ends a little later. A snapshot that begins meanwhile may get another connection.
    await until(() => database.pool()?.idle === 1, { what: 'the connection is idle' })
  }

  test.runIf(name === 'sqlite')('is kept for requests that come soon after its end', async () => {
    const { all, events } = recordedSnapshots()
    for (let n = 0; n < 5; n++) {
      const { read, end } = await all.begin()
      expect((await read.logTip()).slot).toBe(0)
      end()
      expect(all.load().held).toBe(0)
    }
    expect(events).toEqual(['BEGIN'])
    await commit()
    const { read, end } = await all.begin()
    expect((await read.logTip()).slot).toBe(1)
    end()
    expect(events.slice(0, 3)).toEqual(['BEGIN', 'END', 'BEGIN'])
    // It is not kept for longer, so that the write-ahead log can restart.
    await until(() => events.length === 4, { what: 'the transaction ends' })
    all.close()
  })

  test.runIf(name === 'postgresql')(
    'is shared by several requests before its first read, and by none after it',
    async () => {
      const { all, events } = recordedSnapshots()
      await checkServer(all)
      await commit()
      const early = []
      for (let n = 0; n < 9; n++) early.push(await all.begin())
      const [one, other] = early
      expect(events.filter((what) => what === 'BEGIN')).toHaveLength(3)
      expect(other?.read).toBe(one?.read)
      expect(early[8]?.read).not.toBe(one?.read)
      await commit()
      expect((await one?.read.logTip())?.slot).toBe(2)
      await commit()
      const late = await all.begin()
      expect(late.read).not.toBe(one?.read)
      expect((await late.read.latestMilestone()).slot).toBe(3)
      expect((await other?.read.latestMilestone())?.slot).toBe(2)
      for (const { end } of [...early, late]) end()
      all.close()
    },
  )

  test.runIf(name === 'postgresql')('is no longer shared when it is about to end', async () => {
    const { all } = recordedSnapshots()
    await checkServer(all)
    await commit()
    const ended = await all.begin()
    ended.end()
    const next = await all.begin()
    expect(next.read).not.toBe(ended.read)
    expect((await next.read.latestMilestone()).slot).toBe(1)
    next.end()
    all.close()
  })

  test.runIf(name === 'postgresql')(
    'is shared by requests that wait while all places are held',
    async () => {
      const { all, events } = recordedSnapshots()
      const held: StoreSnapshot[] = []
      for (const _place of ['first', 'second', 'third']) {
        const snapshot = await all.begin()
        expect((await snapshot.read.logTip()).slot).toBe(0)
        held.push(snapshot)
      }
      held.pop()?.end()
      await commit()
      const together = await Promise.all([all.begin(), all.begin(), all.begin()])
      expect(new Set(together.map(({ read }) => read)).size).toBe(1)
      expect(events.filter((what) => what === 'BEGIN')).toHaveLength(4)
      const tips = await Promise.all(together.map(({ read }) => read.logTip()))
      expect(tips.map((tip) => tip.slot)).toEqual([1, 1, 1])
      for (const { end } of [...held, ...together]) end()
      all.close()
    },
  )

  test.runIf(name === 'postgresql')(
    'works without named statements behind a pooler',
    async () => {
      const pooler = await startPooler(use.url, 3)
      await reopen(pooler.url)
      await Promise.all(
        Array.from({ length: 30 }, async () => {
          const snapshot = await snapshots.begin()
          expect(new Set(await slotsIn(snapshot))).toEqual(new Set([0]))
          snapshot.end()
        }),
      )
      for (let n = 0; n < 3; n++) {
        const snapshot = await snapshots.begin()
        const began = slot
        expect(new Set(await slotsIn(snapshot))).toEqual(new Set([began]))
        await commit()
        expect(new Set(await slotsIn(snapshot))).toEqual(new Set([began]))
        snapshot.end()
      }
      await reopen(use.url)
      await pooler.close()
    },
    30_000,
  )

  test.runIf(name === 'postgresql')(
    'fails when its connection is lost, and the next one begins',
    async () => {
      const snapshot = await snapshots.begin()
      await onDatabase(
        use.url,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'idle in transaction'`,
      )
      const failure: unknown = await snapshot.read.logTip().catch((error: unknown) => error)
      expect(isStoreAway(failure)).toBe(true)
      snapshot.end()
      const next = await snapshots.begin()
      expect(new Set(await slotsIn(next))).toEqual(new Set([0]))
      next.end()
    },
  )
})
