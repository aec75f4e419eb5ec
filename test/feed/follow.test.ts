import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCommitMarks } from '../../src/feed/commit-marks.ts'
import { follow } from '../../src/feed/follow.ts'
import { createFeedHub } from '../../src/feed/hub.ts'
import type { FeedMessage } from '../../src/feed/message.ts'
import type { UpdateFilter } from '../../src/feed/read.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createSignal } from '../../src/lib/signal.ts'
import type { LogRange } from '../../src/store/rows.ts'
import { noBranch } from '../../src/store/values.ts'
import {
  anyFilter,
  type FeedLog,
  matching,
  openFeedLog,
  seqsOf,
  slotOf,
} from '../support/feed-log.ts'
import { addresses, slotEntries } from '../support/log-store.ts'
import { until } from '../support/until.ts'

const [early = '0x', late = '0x'] = addresses
let own: FeedLog

beforeAll(async () => {
  // Rows below the ring come from the database, newer ones from memory: the log has both.
  own = await openFeedLog({ ringRows: 20 })
  const [slots = []] = fc.sample(fc.array(slotEntries, { minLength: 20, maxLength: 20 }), {
    seed: 6,
    numRuns: 1,
  })
  for (const slot of slots) await own.commit(slot)
  await own.known()
})
afterAll(() => own.close())

/** Follows until the messages satisfy a condition. */
async function take(
  { feed, log }: Pick<FeedLog, 'feed' | 'log'>,
  { filter, position: seq }: { filter: UpdateFilter; position: number },
  until: (received: readonly FeedMessage[]) => boolean,
  batchRows = feed.batchRows,
): Promise<readonly FeedMessage[]> {
  const { tail, progressMs, tickMs: retryMs } = feed
  const hub = createFeedHub({
    tail,
    progressMs,
    retryMs,
    batchRows,
    commits: createCommitMarks(() => {}),
    log: silentLog,
    textCapacity: 1,
  })
  const { signal } = new AbortController()
  const position = log.positionAt(seq)
  const { era } = tail.tip()
  const received: FeedMessage[] = []
  for await (const one of follow(hub, { filter, position, era, snapshot: undefined, signal })) {
    received.push(one)
    if (until(received)) break
  }
  expect(hub.counts().feeds).toBe(0)
  hub.close()
  return received
}

function rowsIn(received: readonly FeedMessage[]): number[] {
  return received.flatMap((one) => (one.kind === 'updates' ? seqsOf(one.rows) : []))
}

function isCaughtUp(received: readonly FeedMessage[]): boolean {
  const last = received.at(-1)
  return last?.kind === 'progress' && last.isLive
}

describe('a feed', () => {
  test('resumed from any position equals the uninterrupted one (1, 2, 3)', async () => {
    const anyStart = fc.nat({ max: own.log.rows.length - 1 })
    const anyLimit = fc.integer({ min: 1, max: 30 })
    const cuts = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(
        anyFilter,
        anyStart,
        anyLimit,
        cuts,
        async (filter, start, limit, lengths) => {
          const behind = matching(own.log.rows, filter).filter((row) => row.seq > start)
          const received: number[] = []
          let position = start
          let isOver = false
          for (let connection = 0; !isOver; connection++) {
            // Each connection ends after a few events; the next one resumes from its last position.
            const events = 1 + (lengths[connection % lengths.length] ?? 1)
            const ends = (some: readonly FeedMessage[]) =>
              isCaughtUp(some) || some.length === events
            const some = await take(own, { filter, position }, ends, limit)
            received.push(...rowsIn(some))
            expect(some[0]).toMatchObject({
              kind: 'opened',
              position: own.log.positionAt(position),
            })
            for (const one of some.slice(1)) {
              // Each event begins where the previous one ended.
              expect(one).toMatchObject({ after: own.log.positionAt(position) })
              expect(one.position).toEqual(own.log.positionAt(one.position.seq))
              position = one.position.seq
            }
            isOver = isCaughtUp(some) || position >= own.log.rows.length
          }
          expect(received).toEqual(seqsOf(behind))
        },
      ),
    )
  })

  test('misses nothing of one address when a slot is committed before the next one is read (2)', async () => {
    const commit = () => other.commit(slotOf(early, late))
    let isFirst = true
    const other = await openFeedLog({ ringRows: 1, batchRows: 10 }, (reader) => ({
      ...reader,
      updates: async (range: LogRange) => {
        if (range.address === late && isFirst) {
          isFirst = false
          await commit()
        }
        return await reader.updates(range)
      },
    }))
    await commit()
    await commit()
    const start = { filter: { addresses: [early, late], classes: ['OWNED'] as const }, position: 0 }
    const received = await take(other, start, (some) => rowsIn(some).length >= 6)
    expect(rowsIn(received)).toEqual([1, 2, 3, 4, 5, 6])
    await other.close()
  })

  test('reads committed rows by the tick when every wake-up is lost (4)', async () => {
    const other = await openFeedLog({ tickMs: 1 })
    const filter = { classes: ['OWNED'] } as const
    const received = take(other, { filter, position: 0 }, (some) => rowsIn(some).length === 10)
    for (let i = 0; i < 5; i++) await other.log.commit(slotOf(early, late))
    expect(rowsIn(await received)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    await other.close()
  })

  test('gets progress while it reads for a long time without finding an update (6)', async () => {
    const other = await openFeedLog({ ringRows: 1, progressMs: 0 })
    // Pages of the whole ledger have 500 rows.
    for (let i = 0; i < 4; i++) await other.commit(slotOf(...Array(400).fill(early)))
    await other.known()
    const filter = { classes: ['MENTIONED'] } as const
    const received = await take(other, { filter, position: 100 }, isCaughtUp)
    expect(received).toMatchObject([
      { kind: 'opened', position: { seq: 100 } },
      { kind: 'progress', after: { seq: 100 }, position: { seq: 500 }, slot: 1, isLive: false },
      { kind: 'progress', after: { seq: 500 }, position: { seq: 1000 }, slot: 2, isLive: false },
      { kind: 'progress', after: { seq: 1000 }, position: { seq: 1500 }, slot: 3, isLive: false },
      { kind: 'progress', after: { seq: 1500 }, position: { seq: 1600 }, slot: 4, isLive: true },
    ])
    for (const one of received) expect(one.position).toEqual(other.log.positionAt(one.position.seq))
    await other.close()
  })

  test('gets progress when it is quiet (6)', async () => {
    const other = await openFeedLog({ progressMs: 1 })
    const filter = { addresses: [late], classes: ['OWNED'] } as const
    let count = 0
    const received = take(other, { filter, position: 0 }, (some) => {
      count = some.length
      return count === 3
    })
    await other.commit(slotOf(early))
    // A follower that sees two commits at once makes progress once.
    await until(() => count === 2)
    await other.commit(slotOf(early), [])
    const [opened, ...rest] = await received
    expect(opened).toMatchObject({ kind: 'opened', position: { seq: 0 } })
    expect(rest.map(({ kind }) => kind)).toEqual(['progress', 'progress'])
    expect(rest.at(-1)?.position.seq).toBeLessThanOrEqual(2)
    await other.close()
  })

  test('ends at once when it is aborted while it waits', async () => {
    const controller = new AbortController()
    const filter = { classes: ['OWNED'] } as const
    const { tail } = own.feed
    const start = { filter, position: tail.tip(), era: tail.tip().era, snapshot: undefined }
    const feed = follow(own.feed.hub, { ...start, signal: controller.signal })
    await feed.next()
    const pending = feed.next()
    controller.abort()
    expect(await pending).toEqual({ done: true, value: undefined })
  })

  test('that is read slowly catches up after a notice, and misses nothing (1, 2, 7)', async () => {
    const other = await openFeedLog()
    const { tail, hub } = other.feed
    const controller = new AbortController()
    const start = { position: tail.tip(), era: tail.tip().era, snapshot: undefined }
    const filter = { addresses: [early], classes: ['OWNED'] as const }
    const messages = follow(hub, { filter, ...start, signal: controller.signal })
    const received = [(await messages.next()).value]
    await until(() => hub.counts().live === 1)
    const slots = 20
    for (let i = 1; i <= slots; i++) {
      await other.commit(slotOf(early))
      await other.known()
    }
    await until(() => hub.counts().live === 0)
    for await (const message of messages) {
      received.push(message)
      if (message.kind === 'progress') controller.abort()
    }
    const moved = received.flatMap((one) => (one === undefined ? [] : [one]))
    expect(rowsIn(moved)).toEqual(Array.from({ length: slots }, (_, i) => i + 1))
    const notices = moved.filter(({ kind }) => kind === 'notice')
    expect(notices).toMatchObject([{ notice: { topic: 'CATCHING_UP' } }])
    await other.close()
  })

  test('gets the notices that all feeds get, and ends with the hub (8)', async () => {
    const other = await openFeedLog()
    const { tail, hub } = other.feed
    const start = { position: tail.tip(), era: tail.tip().era, snapshot: undefined }
    const { signal } = new AbortController()
    const messages = follow(hub, { filter: { classes: ['OWNED'] }, ...start, signal })
    expect((await messages.next()).value).toMatchObject({ kind: 'opened' })
    await hub.emitToAll({ topic: 'DRAINING', closesWithinMs: 5 })
    expect((await messages.next()).value).toMatchObject({ notice: { topic: 'DRAINING' } })
    const last = messages.next()
    await other.close()
    expect(await last).toEqual({ done: true, value: undefined })
  })

  test('ends with a reset when its rows are pruned before it reads them (9)', async () => {
    let prunedSeq = 0
    const other = await openFeedLog({ ringRows: 1, batchRows: 1 }, (reader) => ({
      ...reader,
      logTip: async () => ({ ...(await reader.logTip()), prunedSeq }),
    }))
    for (let i = 0; i < 5; i++) await other.commit(slotOf(early))
    // Only the next row is missing.
    prunedSeq = 1
    const start = { filter: { classes: ['OWNED'] as const }, position: 0 }
    const received = await take(other, start, () => false)
    expect(received.map(({ kind }) => kind)).toEqual(['opened', 'reset'])
    expect(received.at(-1)).toMatchObject({ reason: 'LOG_PRUNED', tip: { prunedSeq: 1 } })
    await other.close()
  })

  test.each([
    ['shorter than the received one', 1, 1],
    ['as long', 2, 1],
    ['longer', 3, 1],
    ['longer by the whole ring', 4, 2],
  ])(
    'ends with a reset when an older copy continued to a log that is %s (9)',
    async (_name, slots, ringRows) => {
      const other = await openFeedLog({ ringRows })
      await other.commit(slotOf(early), slotOf(late))
      const filter = { addresses: [early, late], classes: ['OWNED'] as const }
      let receivedRows = 0
      const received = take(other, { filter, position: 0 }, (some) => {
        receivedRows = rowsIn(some).length
        return false
      })
      await until(() => receivedRows === 2)
      const { tail } = other.feed
      const formerBranch = await tail.branchAt(1)
      await other.log.rewind(0)
      await other.commit(...Array.from({ length: slots }, () => slotOf(early)))
      // Nothing in memory belongs to the former history.
      expect((await received).at(-1)).toMatchObject({
        kind: 'reset',
        reason: 'LOG_REPLACED',
        tip: { ...other.log.positionAt(slots), era: 1 },
      })
      expect(await tail.branchAt(1)).toBe(other.log.positionAt(1).branch)
      expect(await tail.branchAt(1)).not.toBe(formerBranch)
      const again = await take(
        other,
        { filter, position: 0 },
        (some) => rowsIn(some).length >= slots,
      )
      const rows = again.flatMap((one) => (one.kind === 'updates' ? one.rows : []))
      expect(rows).toMatchObject(other.log.rows)
      await other.close()
    },
  )

  test('misses no row if older rows are pruned while the newest are read (2)', async () => {
    let prune = async () => {}
    const other = await openFeedLog({}, (reader) => ({
      ...reader,
      updates: async (range: LogRange) => {
        await prune()
        return await reader.updates(range)
      },
    }))
    prune = async () => {
      prune = async () => {}
      await other.log.prune(1)
    }
    await other.commit(slotOf(early), slotOf(early), slotOf(early))
    await other.known()
    const start = { filter: { classes: ['OWNED'] as const }, position: 2 }
    const received = await take(other, start, isCaughtUp)
    expect(rowsIn(received)).toEqual([3])
    await other.close()
  })

  test('ends with a reset when the log is replaced while its rows are read (9)', async () => {
    let replace = async () => {}
    const other = await openFeedLog({ ringRows: 1, batchRows: 2 }, (reader) => ({
      ...reader,
      updates: async (range: LogRange) => {
        const rows = await reader.updates(range)
        await replace()
        return rows
      },
    }))
    for (let i = 0; i < 5; i++) await other.commit(slotOf(early))
    await other.known()
    replace = async () => {
      replace = async () => {}
      await other.log.rewind(1)
      await other.log.commit(...Array.from({ length: 8 }, () => slotOf(late)))
    }
    const start = { filter: { addresses: [early], classes: ['OWNED'] as const }, position: 0 }
    const received = await take(other, start, () => false)
    expect(received.map(({ kind }) => kind)).toEqual(['opened', 'reset'])
    expect(received.at(-1)).toMatchObject({ reason: 'LOG_REPLACED', tip: other.log.positionAt(9) })
    await other.close()
  })

  test('ends with a reset when the log is replaced by another (9)', async () => {
    const other = await openFeedLog()
    const start = { filter: { classes: ['OWNED'] as const }, position: 0 }
    const received = take(other, start, () => false)
    await other.commit(slotOf(early))
    await other.log.replace('0x0000000000000001')
    await other.commit(slotOf(early))
    expect((await received).at(-1)).toMatchObject({ kind: 'reset', reason: 'LOG_REPLACED' })
    await other.close()
  })
})

describe('the tip of the log', () => {
  test('includes a commit before the request if a read that is running began before the commit', async () => {
    const read = createSignal()
    const opened = createSignal()
    let isHeld = false
    const other = await openFeedLog({}, (reader) => ({
      ...reader,
      logTip: async () => {
        const tip = await reader.logTip()
        if (!isHeld) return tip
        isHeld = false
        read.notify()
        await opened.wait()
        return tip
      },
    }))
    const { tail } = other.feed
    isHeld = true
    const hasRead = read.wait()
    const before = tail.freshTip(1)
    await hasRead
    await other.log.commit(slotOf(late))
    const fresh = tail.freshTip(1)
    opened.notify()
    expect((await before).seq).toBe(0)
    expect((await fresh).seq).toBe(1)
    await other.close()
  })

  test('gives a position its branch once the log has reached it (9)', async () => {
    const other = await openFeedLog({ ringRows: 1 })
    const { tail } = other.feed
    expect(await tail.branchAt(1)).toBe(noBranch)
    for (let i = 0; i < 5; i++) await other.commit(slotOf(early))
    await other.known()
    expect(await tail.branchAt(1)).toBe(other.log.positionAt(1).branch)
    await other.close()
  })
})

test('the ring of these tests does not reach back to the first row', () => {
  const filter = { classes: ['OWNED'] } as const
  expect(own.feed.tail.peek({ filter, after: 0, limit: 1 })).toBeUndefined()
})
