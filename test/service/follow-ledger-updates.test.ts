import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeCursor } from '../../src/feed/cursor.ts'
import { createSignal } from '../../src/lib/signal.ts'
import {
  type FeedSelection,
  followLedgerUpdates,
} from '../../src/service/feed/follow-ledger-updates.ts'
import { listLedgerUpdates } from '../../src/service/updates/list-ledger-updates.ts'
import { pollLedgerUpdates } from '../../src/service/updates/poll-ledger-updates.ts'
import { noBranch } from '../../src/store/values.ts'
import { type FeedLog, neverMs, openFeedLog, slotOf } from '../support/feed-log.ts'
import { addresses, unwrap } from '../support/log-store.ts'
import { servedParameters as parameters } from '../support/serve-log.ts'
import { until } from '../support/until.ts'

const [owner = '0x', other = '0x', quiet = '0x'] = addresses
let own: FeedLog

beforeAll(async () => {
  own = await openFeedLog()
  await commit()
  await commit()
  await own.known()
})
afterAll(() => own.close())

/** Commits a slot that creates an output of `owner` and one of `other`. */
async function commit() {
  await own.commit(slotOf(owner, other))
}

function deps() {
  return { store: own.log.store, parameters, feed: own.feed, mayLag: true }
}

async function open(question: Partial<FeedSelection>) {
  return await followLedgerUpdates(deps(), { classes: ['OWNED'], ...question })
}

function cursorAt(seq: number): string {
  return own.log.cursorAt(seq)
}

describe('feed of ledger updates', () => {
  test('opens at the cursor, replays from it, becomes live and continues (1, 6)', async () => {
    const feed = unwrap(await open({ addresses: [owner], after: cursorAt(1) }))
    const tip = own.log.rows.length
    expect((await feed.next()).value).toMatchObject({
      kind: 'FeedOpened',
      cursor: cursorAt(1),
      oldestCursor: cursorAt(0),
      tipCursor: cursorAt(tip),
      mode: 'CATCHING_UP',
      milestoneIndex: own.log.slot(),
    })
    expect((await feed.next()).value).toMatchObject({
      kind: 'LedgerUpdateBatch',
      updates: [{ ordinal: 2, milestoneTimestamp: 1_700_000_020 }],
      previousCursor: cursorAt(1),
      cursor: cursorAt(tip),
      milestoneIndex: own.log.slot(),
    })
    expect((await feed.next()).value).toMatchObject({
      kind: 'FeedProgress',
      previousCursor: cursorAt(tip),
      cursor: cursorAt(tip),
      mode: 'LIVE',
    })
    const live = feed.next()
    await commit()
    expect((await live).value).toMatchObject({
      kind: 'LedgerUpdateBatch',
      updates: [{ ordinal: 3 }],
      previousCursor: cursorAt(tip),
      cursor: cursorAt(tip + 2),
    })
    await feed.return?.()
  })

  test('without a cursor sends only updates that are committed after it is opened (5)', async () => {
    const feed = unwrap(await open({}))
    const tip = own.log.rows.length
    // This slot is committed between opening and reading, and must not be missed.
    await commit()
    expect((await feed.next()).value).toMatchObject({ kind: 'FeedOpened', cursor: cursorAt(tip) })
    expect((await feed.next()).value).toMatchObject({
      updates: [{ seq: tip + 1 }, { seq: tip + 2 }],
    })
    await feed.return?.()
  })

  const starts = [
    ['a milestone with the next one', { afterMilestone: 1 }, 2],
    ['the genesis with everything', { afterMilestone: 0 }, 0],
  ] as const
  test.each(starts)('begins after %s', async (_name, question, seq) => {
    const feed = unwrap(await open(question))
    expect((await feed.next()).value).toMatchObject({ cursor: cursorAt(seq) })
    await feed.return?.()
  })

  test('sends an update once for a repeated address', async () => {
    const feed = unwrap(await open({ addresses: [owner, owner], after: cursorAt(0) }))
    await feed.next()
    const batch = (await feed.next()).value
    const expected = own.log.rows.filter((row) => row.address === owner).map((row) => row.seq)
    expect(batch.updates.map((update: { seq: number }) => update.seq)).toEqual(expected)
    await feed.return?.()
  })

  test('ends at once when it is closed while it waits', async () => {
    const feed = unwrap(await open({ addresses: [owner] }))
    await feed.next()
    const pending = feed.next()
    expect(await feed.return?.()).toEqual({ done: true, value: undefined })
    expect(await pending).toEqual({ done: true, value: undefined })
  })

  const many = Array.from(
    { length: 101 },
    (_, i) => `0x00${i.toString(16).padStart(64, '0')}` as const,
  )
  const refused = [
    ['no address', { addresses: [] }, { code: 'FEED_ADDRESS_COUNT', count: 0, limit: 100 }],
    ['101 addresses', { addresses: many }, { code: 'FEED_ADDRESS_COUNT', count: 101, limit: 100 }],
    ['no class', { classes: [] }, { code: 'FEED_CLASSES_MISSING' }],
    ['a malformed cursor', { after: 'x' }, { code: 'CURSOR_MALFORMED', argument: 'after' }],
    [
      'a cursor ahead of the tip',
      { after: encodeCursor({ logId: '0x00112233445566ff', seq: 10_000, branch: noBranch }) },
      { code: 'CURSOR_AHEAD_OF_TIP', argument: 'after' },
    ],
    [
      'two start positions',
      {
        after: encodeCursor({ logId: '0x00112233445566ff', seq: 0, branch: noBranch }),
        afterMilestone: 0,
      },
      { code: 'FEED_START_AMBIGUOUS' },
    ],
    [
      'a milestone that is not committed',
      { afterMilestone: 1_000 },
      { code: 'MILESTONE_NOT_COMMITTED', argument: 'afterMilestone', milestoneIndex: 1_000 },
    ],
    ['a snapshot of everything', { snapshot: true }, { code: 'FEED_SNAPSHOT_WITHOUT_ADDRESSES' }],
  ] as const
  test.each(refused)('rejects %s (5)', async (_name, question, error) => {
    expect(await open(question)).toMatchObject({ ok: false, error })
  })

  test('accepts 100 addresses', async () => {
    const feed = unwrap(await open({ addresses: many.slice(0, 100) }))
    await feed.return?.()
  })
})

describe('a log that continues from an older copy', () => {
  test('rejects cursors of the lost history and serves common ones (5)', async () => {
    const copy = await openFeedLog({ ringRows: 2 })
    for (let i = 0; i < 4; i++) await copy.commit(slotOf(owner, other))
    await copy.known()
    const { log, feed } = copy
    const former = [1, 2, 3, 4, 5, 8].map((seq) => log.cursorAt(seq))
    await log.rewind(2)
    for (let i = 0; i < 5; i++) await copy.commit(slotOf(owner, other))
    await until(() => feed.tail.tip().era === 1 && feed.tail.tip().slot === log.slot())
    const selection = { classes: ['OWNED'], addresses: [owner] } as const
    const { signal } = new AbortController()
    const followed: unknown[] = []
    const polled: unknown[] = []
    const listed: unknown[] = []
    const of = { address: owner, class: 'OWNED', sort: 'OLDEST' } as const
    for (const after of former) {
      const all = { store: log.store, parameters, feed, mayLag: true }
      const question = { ...selection, after, limit: 100, waitMs: 0, searchMs: neverMs, signal }
      const page = await pollLedgerUpdates(all, question)
      polled.push(page.ok ? page.value.updates.length : page.error)
      const events = await followLedgerUpdates(all, { ...selection, after })
      const first = events.ok && (await events.value.next()).value
      const { kind, reason } = first || {}
      followed.push(kind === 'FeedReset' ? { kind, reason } : kind)
      if (events.ok) await events.value.return?.()
      const forward = await listLedgerUpdates(all, { ...of, after })
      listed.push(forward.ok ? forward.value.nodes.length : forward.error)
    }
    const error = { code: 'CURSOR_OF_ANOTHER_LOG', argument: 'after' }
    const reset = { kind: 'FeedReset', reason: 'LOG_REPLACED' }
    const behind = (seq: number) =>
      log.rows.filter((row) => row.address === owner && row.seq > seq).length
    const served = [1, 2, 3, 4].map(behind)
    expect(polled).toEqual([...served, error, error])
    expect(followed).toEqual([...Array(4).fill('FeedOpened'), reset, reset])
    expect(listed).toEqual([...served, error, error])
    await copy.close()
  })

  test('rejects a cursor ahead of its tip if only this process writes it (5)', async () => {
    const copy = await openFeedLog()
    await copy.commit(slotOf(owner), slotOf(owner))
    await copy.known()
    const after = copy.log.cursorAt(2)
    await copy.log.rewind(1)
    await copy.feed.tail.freshTip(3)
    const all = { store: copy.log.store, parameters, feed: copy.feed }
    const ask = (mayLag: boolean) =>
      followLedgerUpdates({ ...all, mayLag }, { classes: ['OWNED'], after })
    const events = unwrap(await ask(false))
    expect((await events.next()).value).toMatchObject({ kind: 'FeedReset', reason: 'LOG_REPLACED' })
    expect(await events.next()).toMatchObject({ done: true })
    expect(await ask(true)).toMatchObject({ error: { code: 'CURSOR_AHEAD_OF_TIP', tip: 1 } })
    await copy.close()
  })

  test('accepts a cursor of a slot that the feed has not read yet (5)', async () => {
    const copy = await openFeedLog()
    await copy.log.commit(slotOf(owner))
    const all = { store: copy.log.store, parameters, feed: copy.feed, mayLag: false }
    const question = { classes: ['OWNED'], after: copy.log.cursorAt(1) } as const
    const feed = unwrap(await followLedgerUpdates(all, question))
    await feed.return?.()
    await copy.close()
  })
})

describe('a feed that reads its tip', () => {
  /** Opens a feed whose reads of the tip are held while `isHeld` is set. */
  async function openHeld() {
    const [begun, read] = [createSignal(), createSignal()]
    const held = { isHeld: false, begun, read }
    const copy = await openFeedLog({}, (reader) => ({
      ...reader,
      logTip: async () => {
        const tip = await reader.logTip()
        begun.notify()
        if (held.isHeld) await read.wait()
        return tip
      },
    }))
    // The read with which the feed was opened.
    await begun.wait()
    return { copy, held }
  }

  test('accepts a cursor of a slot that is committed after that read has begun (5)', async () => {
    const { copy, held } = await openHeld()
    held.isHeld = true
    const reading = copy.feed.tail.freshTip(1)
    await held.begun.wait()
    await copy.log.commit(slotOf(owner))
    const all = { store: copy.log.store, parameters, feed: copy.feed, mayLag: false }
    const question = { classes: ['OWNED'], after: copy.log.cursorAt(1) } as const
    const feed = followLedgerUpdates(all, question)
    // The feed joins the read.
    await setImmediate()
    held.isHeld = false
    held.read.notify()
    await reading
    const events = unwrap(await feed)
    expect((await events.next()).value).toMatchObject({ kind: 'FeedOpened', mode: 'LIVE' })
    await events.return?.()
    await copy.close()
  })

  test('reads a slot without a tick although its wake-up arrives during that read', async () => {
    const { copy, held } = await openHeld()
    held.isHeld = true
    const reading = copy.feed.tail.freshTip(1)
    await held.begun.wait()
    await copy.commit(slotOf(owner))
    await setImmediate()
    held.isHeld = false
    held.read.notify()
    await reading
    await copy.known()
    await copy.close()
  })
})

describe('a page of the feed', () => {
  const { signal } = new AbortController()
  const question = { classes: ['OWNED'], waitMs: 0, searchMs: neverMs, signal } as const

  async function poll(more: { after?: string; limit: number; waitMs?: number }) {
    return unwrap(await pollLedgerUpdates(deps(), { ...question, addresses: [owner], ...more }))
  }

  test('is part of a sequence that returns every update once, and has the flag isFull (11)', async () => {
    const received: number[] = []
    let after = cursorAt(0)
    for (let isFull = true; isFull; ) {
      const page = await poll({ after, limit: 2 })
      expect(page.previousCursor).toBe(after)
      received.push(...page.updates.map(({ ordinal }) => ordinal))
      after = page.cursor
      isFull = page.isFull
    }
    expect(received).toEqual(Array.from({ length: received.length }, (_, i) => i + 1))
    expect(after).toBe(cursorAt(own.log.rows.length))
  })

  test('waits for the first update if there is none (11)', async () => {
    const after = cursorAt(own.log.rows.length)
    const page = poll({ after, limit: 2, waitMs: neverMs })
    await commit()
    expect((await page).updates).toHaveLength(1)
  })

  test('waits for the first update of its class, also when rows of another class are committed (11)', async () => {
    const { watchers } = own.feed.tail.counts()
    const classes = ['MENTIONED'] as const
    const waiting = { ...question, classes, limit: 2, waitMs: neverMs }
    const page = pollLedgerUpdates(deps(), waiting)
    await until(() => own.feed.tail.counts().watchers > watchers)
    await commit()
    await own.known()
    const [mentioned] = slotOf(owner)
    await own.commit(mentioned === undefined ? [] : [{ ...mentioned, class: 'MENTIONED' }])
    expect(unwrap(await page).updates).toMatchObject([{ outputId: mentioned?.outputId }])
  })

  test('ends a long search for a rare class in the whole ledger with the position that it has reached (11)', async () => {
    const long = await openFeedLog({ ringRows: 1 })
    // Pages of the whole ledger have 500 rows.
    for (let i = 0; i < 4; i++) await long.commit(slotOf(...Array(400).fill(owner)))
    await long.known()
    const { log, feed } = long
    const all = { store: log.store, parameters, feed, mayLag: true }
    const search = {
      ...question,
      classes: ['MENTIONED'],
      limit: 2,
      after: log.cursorAt(100),
    } as const
    const cursors: string[] = []
    for (const more of [{}, { searchMs: 0 }, { signal: AbortSignal.abort() }]) {
      cursors.push(unwrap(await pollLedgerUpdates(all, { ...search, ...more })).cursor)
    }
    // Also a search that is over before it begins gets further, so that repeating it ends.
    expect(cursors).toEqual([1_600, 500, 500].map(log.cursorAt))
    await long.close()
  })

  test('is empty after the wait, with the cursor of the end of the log (11)', async () => {
    const tip = cursorAt(own.log.rows.length)
    const filter = { addresses: [quiet], classes: ['OWNED'] } as const
    const page = await pollLedgerUpdates(deps(), { ...question, ...filter, limit: 2, waitMs: 1 })
    expect(unwrap(page)).toEqual({
      updates: [],
      previousCursor: tip,
      cursor: tip,
      isFull: false,
    })
  })
})
