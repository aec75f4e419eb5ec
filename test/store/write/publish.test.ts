import { beforeEach, describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import type { SlotCommit, StoreNotification } from '../../../src/store/contract.ts'
import { commitSlots } from '../../../src/store/write/commit.ts'
import { publishApart } from '../../../src/store/write/publish.ts'
import { databases, onDatabase, useDatabase, useStore } from '../../support/databases.ts'
import { sessionsAwaitingLocks } from '../../support/postgresql-server.ts'
import { addressOf, entry, slotCommit, testGenesis } from '../../support/store-rows.ts'
import { until } from '../../support/until.ts'

describe.each(databases)('$name: the published tip', ({ name, create }) => {
  const use = useStore(create)
  const database = useDatabase(use)
  const successor = useDatabase(use)
  const address = addressOf(1)
  beforeEach(async () => {
    await use.store.write.initialize(use.term, testGenesis())
  })

  function slotsFrom(slot: number, count: number): SlotCommit[] {
    return Array.from({ length: count }, (_, i) =>
      slotCommit(slot + i, [entry(1, 2 * (slot + i)), entry(1, 2 * (slot + i) + 1)]),
    )
  }

  /** Reads the end of the log by every kind of read. */
  async function readEnd() {
    const { read } = use.store
    const range = { classes: ['OWNED'], after: 0, before: 2 ** 40, limit: 100 } as const
    const ofAddress = { ...range, address, order: 'descending' } as const
    const { seq, slot } = await read.logTip()
    const [rows, own, page, owned, milestones, latest, counted] = await Promise.all([
      read.updates({ ...range, order: 'ascending' }),
      read.updates(ofAddress),
      read.addressPage({ ...ofAddress, class: 'OWNED' }),
      read.owned({ address, order: 'descending', from: undefined, limit: 100 }),
      read.milestones({ from: 0, to: 100, order: 'ascending', limit: 100 }),
      read.latestMilestone(),
      read.ledgerCounters(10),
    ])
    return {
      tip: { seq, slot },
      rows: rows.map((row) => row.seq),
      own: own.length,
      page: [page.tip.seq, page.count, page.rows.length],
      owned: owned?.length,
      milestones: milestones.map((one) => one.slot),
      latest: latest.slot,
      counted: counted.slot,
      next: (await read.milestone(slot + 1))?.slot,
      branches: await read.branchesAt([seq, seq + 1]),
    }
  }

  test('ends every read, even if more is committed', async () => {
    await onDatabase(use.url, 'UPDATE published_tip SET "isApart" = true')
    const before = await readEnd()
    const { writer, statements: sql } = database.opened
    await use.store.write.closeSlots(use.term, 2)
    // Commits the slots without the transaction that publishes the tip.
    const committed = await writer.$transaction(async (tx) => {
      await sql.shards?.detect(tx)
      return commitSlots({ tx, sql }, slotsFrom(1, 2))
    })
    expect(committed).toMatchObject({ ok: true, value: { isPublished: false } })
    expect(await readEnd()).toEqual(before)
    expect(await database.opened.reader.ledgerUpdate.count()).toBe(before.tip.seq + 4)

    // Another process takes over and first publishes what is committed.
    await use.store.write.releaseLease(use.term)
    await use.store.write.takeLease({ holder: 'other', ttlMs: 60_000 })
    const after = await readEnd()
    expect(after.tip).toEqual({ slot: 2, seq: before.tip.seq + 4 })
    expect(after.rows).toHaveLength(before.rows.length + 4)
    expect(after).toMatchObject({ latest: 2, counted: 2, milestones: [0, 1, 2] })
  })

  test.each([false, true])('is updated by a commit, with isApart: %s', async (isApart) => {
    await onDatabase(use.url, `UPDATE published_tip SET "isApart" = ${isApart}`)
    const before = await readEnd()
    const notifications: StoreNotification[] = []
    use.store.listen((news) => void notifications.push(news))
    await use.store.write.closeSlots(use.term, 1)
    const committed = await use.store.write.commitSlots(use.term, slotsFrom(1, 1))
    const tip = await use.store.read.logTip()
    expect(committed).toEqual({ ok: true, value: tip })
    expect(tip).toMatchObject({ slot: 1, seq: before.tip.seq + 2 })
    expect((await readEnd()).rows).toHaveLength(before.rows.length + 2)
    if (!use.store.isShared) return
    await until(() =>
      notifications.some((news) => news.topic === 'LOG_GREW' && news.seq === tip.seq),
    )
  })

  test.runIf(name === 'postgresql')('does not go back if a process publishes late', async () => {
    await onDatabase(use.url, 'UPDATE published_tip SET "isApart" = true')
    await use.store.write.closeSlots(use.term, 2)
    const { raw, statements: sql } = database.opened
    await raw.transact((tx) => commitSlots({ tx, sql }, slotsFrom(1, 1)))
    let late: Promise<void> | undefined
    await successor.opened.raw.transact(async (tx) => {
      await tx.$executeRawUnsafe('UPDATE published_tip SET slot = slot')
      late = raw.transact((own) => publishApart({ tx: own, sql }))
      await until(async () => (await sessionsAwaitingLocks(use.url)) === 1)
      // The late process has read slot 1 as the newest one.
      await commitSlots({ tx, sql }, slotsFrom(2, 1))
      await publishApart({ tx, sql })
    })
    await late
    expect(await use.store.read.logTip()).toMatchObject({ slot: 2 })
  })

  test('states where a pruned log begins, and does not go back', async () => {
    const { write, read } = use.store
    await write.closeSlots(use.term, 3)
    await write.commitSlots(use.term, slotsFrom(1, 3))
    const whole = await read.logTip()
    expect(whole.prunedSeq).toBe(0)
    const { prunedSeq } = await write.pruneLog({ milestones: 1, rows: 1_000 })
    const tip = await read.logTip()
    expect(tip).toEqual({
      ...whole,
      prunedSeq,
      prunedBranch: present((await read.branchesAt([prunedSeq]))[0], 'a branch'),
    })
    expect(prunedSeq).toBe(whole.seq - 2)
    await write.pruneLog({ milestones: 3, rows: 1_000 })
    expect(await read.logTip()).toEqual(tip)
  })
})
