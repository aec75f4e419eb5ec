import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Feed, openFeed } from '../../src/feed/open.ts'
import { createWake } from '../../src/feed/wake.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createSignal } from '../../src/lib/signal.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { followBlocks } from '../../src/service/feed/follow-blocks.ts'
import { followStatus } from '../../src/service/feed/follow-status.ts'
import type { BlockFilter } from '../../src/service/lists/list-blocks.ts'
import type { Services } from '../../src/service/services.ts'
import { notifyBlockChanges } from '../../src/store/block-changes.ts'
import type { Store } from '../../src/store/contract.ts'
import { type ActivityLedger, foundActivityLedger } from '../support/activity-model.ts'
import { defaultDatabase, onDatabase, openedStore, takenLease } from '../support/databases.ts'
import { openFeedLog } from '../support/feed-log.ts'
import { unwrap } from '../support/log-store.ts'
import { createSettableClock } from '../support/settable-clock.ts'
import { incomingBlock, testId } from '../support/store-rows.ts'
import { until } from '../support/until.ts'

const parameters = { ...developmentParameters(1_700_000_000), slotDurationInSeconds: 10 }
const clock = createSettableClock(1_700_001_000_000_000_000n)
const wake = createWake()
const database = await defaultDatabase().create()
let store: Store
let ledger: ActivityLedger
let feed: Feed
let services: Services
/** Numbers of calls of these reads, and of results. */
const reads = { ledgerCounters: 0, blocksAfter: 0, blocksAfterDone: 0 }
/** What the next results of `blocksAfter` wait for. */
let held: (() => Promise<unknown>) | undefined

beforeAll(async () => {
  const opened = await openedStore(database.url)
  const { ledgerCounters, blocksAfter } = opened.read
  const read: Store['read'] = {
    ...opened.read,
    ledgerCounters: (slots) => {
      reads.ledgerCounters++
      return ledgerCounters(slots)
    },
    blocksAfter: async (page) => {
      reads.blocksAfter++
      const wait = held
      const rows = await blocksAfter(page)
      await wait?.()
      reads.blocksAfterDone++
      return rows
    },
  }
  let notify = () => {}
  store = notifyBlockChanges({ ...opened, read }, () => notify())
  ledger = await foundActivityLedger({ store, term: await takenLease(store) }, 61, parameters)
  const deps = { reader: read, parameters, wake, log: silentLog }
  feed = await openFeed(deps, { tickMs: 2 ** 30, progressMs: 2 ** 30 })
  notify = feed.blocks.notify
  const source = { status: () => ({ slot: 100, role: 'WRITER' }), node: undefined }
  services = { store, source, parameters, clock, feed } as unknown as Services
})
afterAll(async () => {
  await feed.close()
  await store.close()
  await database.remove()
})

async function commit(slots: number): Promise<void> {
  await ledger.commit(slots)
  wake.notify((await store.read.logTip()).seq)
}

describe('the status', () => {
  test('is sent at once and at each milestone, with one read for all subscribers (20)', async () => {
    const feeds = Array.from({ length: 5 }, () => followStatus(services))
    const slots = async () => {
      const next = await Promise.all(feeds.map((one) => one.next()))
      return next.map(({ value }) => value?.committed.slot)
    }
    const before = reads.ledgerCounters
    expect(await slots()).toEqual(Array(5).fill(0))
    for (let slot = 1; slot < 4; slot++) {
      const next = slots()
      await commit(1)
      expect(await next).toEqual(Array(5).fill(slot))
    }
    expect(reads.ledgerCounters - before).toBe(4)
    for (const one of feeds) await one.return?.()
  })

  test('is the newest for a slow subscriber, and ends at once when it is closed', async () => {
    const one = followStatus(services)
    await one.next()
    await commit(1)
    await commit(1)
    await commit(2)
    expect((await one.next()).value?.committed.slot).toBe(ledger.committed())
    const pending = one.next()
    await one.return?.()
    expect(await pending).toEqual({ done: true, value: undefined })
  })
})

describe('new blocks', () => {
  const open = async (filter: BlockFilter = {}) => unwrap(await followBlocks(services, filter))
  let count = 10_000
  const accept = async (changes: Parameters<typeof incomingBlock>[1][]) => {
    const blocks = changes.map((one) => incomingBlock(count++, { slot: 9_000, ...one }))
    await store.write.acceptBlocks(blocks)
    return blocks.map(({ blockId }) => blockId)
  }
  const take = async (from: AsyncIterator<{ readonly blockId: string }>, length: number) => {
    const ids: string[] = []
    while (ids.length < length) ids.push((await from.next()).value.blockId)
    return ids
  }

  test('are sent once and in order, also to a slow subscriber and across pages (21)', async () => {
    const [fast, slow] = [await open(), await open()]
    const expected: string[] = []
    const taken = take(fast, 305)
    for (let n = 0; n < 5; n++) expected.push(...(await accept([{}])))
    expected.push(...(await accept(Array(300).fill({}))))
    expect(await taken).toEqual(expected)
    expect(await take(slow, 305)).toEqual(expected)
    await fast.return?.()
    await slow.return?.()
  })

  test('are read once for all waiting subscribers', async () => {
    const feeds = await Promise.all(Array.from({ length: 20 }, () => open()))
    const first = feeds.map((one) => take(one, 1))
    const before = reads.blocksAfter
    const [id] = await accept([{}])
    expect(await Promise.all(first)).toEqual(Array(20).fill([id]))
    // Once before the block and once for it.
    expect(reads.blocksAfter - before).toBeLessThanOrEqual(2)
    for (const one of feeds) await one.return?.()
  })

  test('are sent without a tick to a subscriber that is woken while another one reads', async () => {
    const waiting = await open()
    const done = reads.blocksAfterDone
    const first = take(waiting, 1)
    await until(() => reads.blocksAfterDone > done)
    const released = createSignal()
    held = () => released.wait()
    const reading = await open()
    const second = take(reading, 1)
    held = undefined
    // The held read was sent before the block is stored.
    await store.read.newestInbox()
    const ids = await accept([{}])
    await setImmediate()
    released.notify()
    expect(await Promise.all([first, second])).toEqual([ids, ids])
    await waiting.return?.()
    await reading.return?.()
  })

  test('end when an older copy of the log continues, instead of skipping new blocks (21)', async () => {
    const copy = await openFeedLog({ tickMs: 5 })
    const { store, commit, rewind } = copy.log
    await commit([], [])
    const all = { ...services, store, feed: copy.feed }
    const feed = unwrap(await followBlocks(all, {}))
    const [first, second] = [incomingBlock(1, { slot: 9_000 }), incomingBlock(2, { slot: 9_000 })]
    await store.write.acceptBlocks([first])
    expect(await take(feed, 1)).toEqual([first.blockId])
    await copy.known()
    await rewind(1)
    // The second block gets the position of the first one.
    await onDatabase(copy.log.url, 'DELETE FROM blocks')
    await copy.log.commit([], [])
    // A store that knows only the former history would refuse to write.
    await copy.known()
    await store.write.acceptBlocks([second])
    const more = (await feed.next()).value
    expect(more).toBeUndefined()
    await copy.close()
  })

  test('match the filter', async () => {
    const issuerId = testId('AccountId', 32, 5)
    const filters: BlockFilter[] = [
      { issuerId },
      { payload: 'TRANSACTION' },
      { payload: 'NONE', kind: 'BASIC' },
      { kind: 'VALIDATION' },
      { fromMilestone: 9_001, toMilestone: 9_002 },
    ]
    const feeds = await Promise.all(filters.map(open))
    const [plain, ofIssuer, validation, last] = await accept([
      { slot: 9_003 },
      { issuerId, kind: 'transaction' },
      { kind: 'validation', slot: 9_002 },
      { issuerId, slot: 9_001 },
    ])
    const expected = [[ofIssuer, last], [ofIssuer], [plain, last], [validation], [validation, last]]
    const found = feeds.map((one, i) => take(one, expected[i]?.length ?? 0))
    expect(await Promise.all(found)).toEqual(expected)
    for (const one of feeds) await one.return?.()
  })

  test.each([
    [{ state: 'DROPPED' }, { code: 'FILTER_NOT_LIVE', members: 'state' }],
    [
      { fromMilestone: 2, toMilestone: 1 },
      { code: 'MILESTONE_RANGE_REVERSED', from: 2, to: 1 },
    ],
  ] as const)('are rejected for %j', async (filter, error) => {
    expect(await followBlocks(services, filter)).toEqual({ ok: false, error })
  })

  test('end at once when the feed is closed, and are rejected in upstream mode', async () => {
    const one = await open()
    const pending = one.next()
    await one.return?.()
    expect(await pending).toEqual({ done: true, value: undefined })
    const source = { ...services.source, node: {} } as unknown as Services['source']
    expect(await followBlocks({ ...services, source }, {})).toEqual({
      ok: false,
      error: { code: 'NOT_OFFERED_BY_NODES', what: 'new blocks' },
    })
  })
})
