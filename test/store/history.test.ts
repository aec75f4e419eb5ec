import { beforeEach, describe, expect, test } from 'vitest'
import { isStoreAway, storeFaultOf } from '../../src/store/faults.ts'
import { createHistoryGuard } from '../../src/store/history.ts'
import { acceptHistory } from '../../src/store/move/new-log.ts'
import { databases, onDatabase, openedStore, useDatabase, useStore } from '../support/databases.ts'
import { incomingBlock, slotCommit, testGenesis } from '../support/store-rows.ts'

describe.each(databases)('$name: a database that lacks what was seen of it', ({ create }) => {
  const use = useStore(create)
  const below = useDatabase(use)
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
      'a block that was acknowledged',
      'DELETE FROM blocks; UPDATE writer SET "nextInbox" = "nextInbox" - 1',
    ],
  ] as const
  test.each(losses)('is not written, for it lacks %s', async (_what, loss) => {
    const { store, term, url } = use
    expect(store.isRewound()).toBe(false)
    await onDatabase(url, loss)
    const other = await openedStore(url)
    for (const write of [
      () => store.write.checkHistory(),
      () => store.write.renewLease(term, 60_000),
      () => store.write.acceptBlocks([incomingBlock(2, { slot: 9 })]),
      () => store.write.setChainRecord(chainRecord),
      // A process that has seen nothing of it learns it from the database.
      () => other.write.acceptBlocks([incomingBlock(2, { slot: 9 })]),
    ]) {
      expect(await refusalOf(write())).toBe('REWOUND')
    }
    expect([store.isRewound(), other.isRewound()]).toEqual([true, true])
    expect(await store.read.block(incomingBlock(2).blockId)).toBeUndefined()
    expect(await store.read.latestChainRecordChange()).toBe(0)

    const { logId } = await store.read.logTip()
    expect(await below.opened.writer.$transaction((tx) => acceptHistory(tx))).toBe(true)
    expect((await store.read.logTip()).logId).not.toBe(logId)
    expect(await store.write.acceptBlocks([incomingBlock(2, { slot: 9 })])).toEqual(['ACCEPTED'])
    expect(await refusalOf(other.write.checkHistory())).toBe('WRITTEN')
    expect([store.isRewound(), other.isRewound()]).toEqual([false, false])
    expect(await below.opened.writer.$transaction((tx) => acceptHistory(tx))).toBe(false)
    await other.close()
  })

  test('is written again when what was seen is back', async () => {
    const { store, url } = use
    await onDatabase(url, 'UPDATE writer SET "nextInbox" = "nextInbox" - 1')
    const failure = await store.write.checkHistory().catch((thrown: unknown) => thrown)
    expect([storeFaultOf(failure), isStoreAway(failure)]).toEqual(['REWOUND', true])
    // The server that has all of it was put back in its place.
    await onDatabase(
      url,
      'UPDATE writer SET "nextInbox" = "nextInbox" + 1; UPDATE published_tip SET "rewoundFrom" = NULL',
    )
    expect(await refusalOf(store.write.checkHistory())).toBe('WRITTEN')
  })

  test('is not one that another process has written meanwhile', async () => {
    const { store, url, term } = use
    const other = await openedStore(url)
    await other.read.logTip()
    await store.write.commitSlots(term, [slotCommit(3), slotCommit(4)])
    await store.write.acceptBlocks([incomingBlock(2, { slot: 9 })])
    expect(await refusalOf(other.write.checkHistory())).toBe('WRITTEN')
    await other.close()
  })

  test('is not one that is read while it is asked', async () => {
    const guard = createHistoryGuard()
    const tip = await use.store.read.logTip()
    guard.recordTip(tip)
    const { writer, statements } = below.opened
    const refused = await writer.$transaction(async (tx) => {
      const beginWritingAfter: typeof statements.beginWritingAfter = async (...asked) => {
        const facts = await statements.beginWritingAfter(...asked)
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
