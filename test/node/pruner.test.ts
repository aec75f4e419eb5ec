import { expect, test } from 'vitest'
import { silentLog } from '../../src/lib/log.ts'
import { startPruner } from '../../src/node/pruner.ts'
import { followLedgerUpdates } from '../../src/service/feed/follow-ledger-updates.ts'
import { listLedgerUpdates } from '../../src/service/updates/list-ledger-updates.ts'
import { openFeedLog, slotOf } from '../support/feed-log.ts'
import { addresses, unwrap } from '../support/log-store.ts'
import { servedParameters as parameters } from '../support/serve-log.ts'
import { until } from '../support/until.ts'

const [owner = '0x', other = '0x'] = addresses

test('the log keeps the newest milestones, and continues the count of the first ones (5, 9, 18)', async () => {
  const own = await openFeedLog({ ringRows: 1, tickMs: 1 })
  const { store } = own.log
  const pruner = startPruner(
    { write: store.write, tail: own.feed.tail, log: silentLog, isWriting: () => true },
    3,
  )
  for (let i = 0; i < 10; i++) await own.commit(slotOf(owner, other))
  await until(() => own.feed.tail.tip().prunedSeq === 14)

  const deps = { store, parameters, feed: own.feed, mayLag: true }
  const { cursorAt } = own.log
  const open = (seq: number) =>
    followLedgerUpdates(deps, { addresses: [owner], classes: ['OWNED'], after: cursorAt(seq) })
  expect(await open(13)).toMatchObject({
    ok: false,
    error: { code: 'CURSOR_EXPIRED', argument: 'after', oldestCursor: cursorAt(14) },
  })
  const feed = unwrap(await open(14))
  expect((await feed.next()).value).toMatchObject({ oldestCursor: cursorAt(14) })
  expect((await feed.next()).value).toMatchObject({
    updates: [{ ordinal: 8 }, { ordinal: 9 }, { ordinal: 10 }],
  })
  await feed.return?.()

  const question = { address: owner, class: 'OWNED', sort: 'OLDEST' } as const
  const page = unwrap(await listLedgerUpdates(deps, question))
  expect(page.nodes.map(({ ordinal }) => ordinal)).toEqual([8, 9, 10])
  expect([await page.hasPreviousPage(), await page.totalCount()]).toEqual([false, 10])
  await pruner.close()
  await own.close()
})

test('a feed ends with a reset when the updates after its start are pruned during its snapshot (9, 17)', async () => {
  const own = await openFeedLog()
  for (let i = 0; i < 3; i++) await own.commit(slotOf(owner, other))
  await own.known()
  const { store, cursorAt } = own.log
  const snapshot: typeof store.snapshot = async () => {
    await own.log.prune(1)
    return await store.snapshot()
  }
  const pruned = { ...store, snapshot }
  const deps = { store: pruned, parameters, feed: own.feed, mayLag: true }
  const start = { addresses: [owner], classes: ['OWNED'], after: cursorAt(1) } as const
  const feed = unwrap(await followLedgerUpdates(deps, { ...start, snapshot: true }))
  expect((await feed.next()).value).toMatchObject({ kind: 'FeedOpened' })
  expect((await feed.next()).value).toEqual({
    kind: 'FeedReset',
    reason: 'LOG_PRUNED',
    oldestCursor: cursorAt(4),
    tipCursor: cursorAt(6),
  })
  expect(await feed.next()).toMatchObject({ done: true })
  await own.close()
})
