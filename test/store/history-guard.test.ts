import { beforeEach, describe, expect, test } from 'vitest'
import { isStoreAway, storeFaultOf } from '../../src/store/faults.ts'
import { createHistoryGuard } from '../../src/store/history-guard.ts'
import { acceptHistory } from '../../src/store/move/new-log.ts'
import { databases, onDatabase, openedStore, useDatabase, useStore } from '../support/databases.ts'
import { incomingBlock, slotCommit, testGenesis } from '../support/store-rows.ts'

describe.each(databases)('$name: a database that lacks known records', ({ create }) => {
  const use = useStore(create)
  const database = useDatabase(use)
  beforeEach(async () => {
    await use.store.write.initialize(use.term, testGenesis())
    await use.store.write.closeSlots(use.term, 4)
    await use.store.write.commitSlots(use.term, [slotCommit(1), slotCommit(2)])
    await use.store.write.acceptBlocks([incomingBlock(1, { slot: 9 })])
  })

  const refusalOf = (writing: Promise<unknown>) =>
    writing.then(
      () => 'WRITTEN',
      (failure) => storeFaultOf(failure) ?? failure,
    )
  const tipTo = (slot: number) =>
    `UPDATE published_tip SET slot = ${slot}, "commitmentId" = (SELECT id FROM commitments WHERE slot = ${slot})`

  const losses = [
    ['a slot', `DELETE FROM commitments WHERE slot = 2; ${tipTo(1)}`],
    ['the id of a slot', `UPDATE commitments SET id = bytes WHERE slot = 2; ${tipTo(2)}`],
    [
      'an acknowledged block',
      'DELETE FROM blocks; UPDATE writer SET "nextInbox" = "nextInbox" - 1',
    ],
  ] as const
  test.each(losses)('is not written because it lacks %s', async (_what, loss) => {
    const { store, term, url } = use
    expect(store.isRewound()).toBe(false)
    await onDatabase(url, loss)
    const other = await openedStore(url)
    for (const write of [
      () => store.write.checkHistory(),
      () => store.write.renewLease(term, 60_000),
      () => store.write.acceptBlocks([incomingBlock(2, { slot: 9 })]),
      () => store.write.setChainRecord(chainRecord),
      // A process that has read nothing of it learns of the loss from the database.
      () => other.write.acceptBlocks([incomingBlock(2, { slot: 9 })]),
    ]) {
      expect(await refusalOf(write())).toBe('REWOUND')
    }
    expect([store.isRewound(), other.isRewound()]).toEqual([true, true])
    expect(await store.read.block(incomingBlock(2).blockId)).toBeUndefined()
    expect(await store.read.latestChainRecordChange()).toBe(0)

    const { logId } = await store.read.logTip()
    expect(await database.opened.writer.$transaction((tx) => acceptHistory(tx))).toBe(true)
    expect((await store.read.logTip()).logId).not.toBe(logId)
    expect(await store.write.acceptBlocks([incomingBlock(2, { slot: 9 })])).toEqual(['ACCEPTED'])
    expect(await refusalOf(other.write.checkHistory())).toBe('WRITTEN')
    expect([store.isRewound(), other.isRewound()]).toEqual([false, false])
    expect(await database.opened.writer.$transaction((tx) => acceptHistory(tx))).toBe(false)
    await other.close()
  })

  test('is written again when the missing records are back', async () => {
    const { store, url } = use
    await onDatabase(url, 'UPDATE writer SET "nextInbox" = "nextInbox" - 1')
    const failure = await store.write.checkHistory().catch((thrown: unknown) => thrown)
    expect([storeFaultOf(failure), isStoreAway(failure)]).toEqual(['REWOUND', true])
    // The server that has all records replaces the other one.
    await onDatabase(
      url,
      'UPDATE writer SET "nextInbox" = "nextInbox" + 1; UPDATE published_tip SET "rewoundFrom" = NULL',
    )
    expect(await refusalOf(store.write.checkHistory())).toBe('WRITTEN')
  })

  test('is not a database that another process has written meanwhile', async () => {
    const { store, url, term } = use
    const other = await openedStore(url)
    await other.read.logTip()
    await store.write.commitSlots(term, [slotCommit(3), slotCommit(4)])
    await store.write.acceptBlocks([incomingBlock(2, { slot: 9 })])
    expect(await refusalOf(other.write.checkHistory())).toBe('WRITTEN')
    await other.close()
  })

  test('is not a database whose new records are read during the check', async () => {
    const guard = createHistoryGuard()
    const tip = await use.store.read.logTip()
    guard.recordTip(tip)
    const { writer, statements } = database.opened
    const refused = await writer.$transaction(async (tx) => {
      const beginWritingAfter: typeof statements.beginWritingAfter = async (...args) => {
        const facts = await statements.beginWritingAfter(...args)
        guard.recordTip({ ...tip, slot: tip.slot + 1, commitmentId: slotCommit(3).commitmentId })
        guard.recordInbox(100)
        return facts
      }
      return guard.begin({ tx, sql: { ...statements, beginWritingAfter } })
    })
    expect([refused, guard.isRewound()]).toEqual([undefined, false])
  })
})

const chainRecord = { chainId: 'c', accessNodes: [], isActive: true, setBy: 'a', setAt: 1 }
