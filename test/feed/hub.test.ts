import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FeedMessage } from '../../src/feed/message.ts'
import type { UpdateFilter } from '../../src/feed/read.ts'
import type { Sink, Subscriber } from '../../src/feed/subscriber.ts'
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

const [first = '0x', second = '0x'] = addresses

/** A sink that keeps what it is told, and has room while the test wants. */
interface Listener {
  readonly told: FeedMessage[]
  readonly filter: UpdateFilter
  readonly start: number
  readonly reader: Subscriber
  stalled: boolean
  isEnded: boolean
  stall(isStalled: boolean): void
}

/** How often events were rendered for the feeds of one log. */
const renderings = new WeakMap<object, number>()

function listen(
  { feed, log }: Pick<FeedLog, 'feed' | 'log'>,
  { filter, position: start }: { filter: UpdateFilter; position: number },
): Listener {
  const told: FeedMessage[] = []
  let roused = () => {}
  const sink: Sink = {
    hasRoom: () => !listener.stalled,
    take: ({ text }) => told.push(JSON.parse(text)),
    room: () =>
      new Promise((resolve) => {
        roused = resolve
      }),
    end: () => {
      listener.isEnded = true
    },
  }
  const listener: Listener = {
    told,
    filter,
    start,
    stalled: false,
    isEnded: false,
    stall: (isStalled) => {
      listener.stalled = isStalled
      if (!isStalled) roused()
    },
    reader: feed.share.open({
      key: JSON.stringify(filter),
      filter,
      era: feed.tail.tip().era,
      position: log.positionAt(start),
      snapshot: undefined,
      render: async (one) => {
        renderings.set(feed, rendered({ feed }) + 1)
        return { text: JSON.stringify(one), cursor: undefined }
      },
      sink,
    }),
  }
  return listener
}

function rendered({ feed }: Pick<FeedLog, 'feed'>): number {
  return renderings.get(feed) ?? 0
}

/** Whether a listener has had everything, each row once and in order, and every event begins where the last one ended. */
function checkHistory({ log }: FeedLog, { told, filter, start }: Listener): void {
  const expected = matching(log.rows, filter).filter((row) => row.seq > start)
  expect(told.flatMap((one) => (one.kind === 'updates' ? seqsOf(one.rows) : []))).toEqual(
    seqsOf(expected),
  )
  let position = log.positionAt(start)
  for (const one of told) {
    if (one.kind === 'updates' || one.kind === 'progress') expect(one.after).toEqual(position)
    expect(one.position.seq).toBeGreaterThanOrEqual(position.seq)
    expect(one.position).toEqual(log.positionAt(one.position.seq))
    if (one.kind === 'opened' || one.kind === 'notice') expect(one.position).toEqual(position)
    position = one.position
  }
}

function lastRow({ told }: Listener): number {
  const batches = told.flatMap((one) => (one.kind === 'updates' ? one.rows : []))
  return batches.at(-1)?.seq ?? 0
}

async function settled(own: FeedLog, listener: Listener): Promise<void> {
  const { filter, start } = listener
  const expected = matching(own.log.rows, filter).findLast((row) => row.seq > start)?.seq ?? 0
  await until(() => lastRow(listener) >= expected)
}

describe('shared feeds', () => {
  test('tell everybody everything once, whoever stalls, leaves or comes, and whatever wake-up is lost (1, 2, 3, 4, 7)', async () => {
    const command = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ do: fc.constant('commit' as const), slot: slotEntries }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ do: fc.constant('silent' as const), slot: slotEntries }),
      },
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('listen' as const),
          filter: anyFilter,
          from: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('stall' as const), who: fc.nat() }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('go' as const), who: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), who: fc.nat() }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 10, maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        fc.constantFrom(2, 10, 1_000),
        async (commands, batchRows, ringRows) => {
          const own = await openFeedLog({ batchRows, ringRows, tickMs: 5, progressMs: 3 })
          const listeners: Listener[] = []
          const pick = (who: number) => listeners[who % Math.max(listeners.length, 1)]
          for (const one of commands) {
            if (one.do === 'commit') await own.commit(one.slot)
            else if (one.do === 'silent') await own.log.commit(one.slot)
            else if (one.do === 'turn') await new Promise((resolve) => setImmediate(resolve))
            else if (one.do === 'listen') {
              const position = Math.floor(own.feed.tail.tip().seq * one.from)
              listeners.push(listen(own, { filter: one.filter, position }))
            } else if (one.do === 'leave') {
              const [gone] = listeners.splice(one.who % Math.max(listeners.length, 1), 1)
              gone?.reader.leave()
            } else pick(one.who)?.stall(one.do === 'stall')
          }
          for (const listener of listeners) listener.stall(false)
          for (const listener of listeners) {
            await settled(own, listener)
            checkHistory(own, listener)
          }
          await until(() => own.feed.share.counts().live === listeners.length)
          await own.close()
          expect(listeners.every(({ isEnded }) => isEnded)).toBe(true)
          expect(own.feed.share.counts()).toEqual({ feeds: 0, live: 0, streams: 0 })
        },
      ),
      { numRuns: Number(process.env.FC_NUM_RUNS ?? 40) },
    )
  }, 120_000)

  test('execute once for all that ask the same (10)', async () => {
    const own = await openFeedLog()
    const filter = { addresses: [first], classes: ['OWNED'] } as const
    const many = Array.from({ length: 50 }, () => listen(own, { filter, position: 0 }))
    await until(() => own.feed.share.counts().live === 50)
    expect(own.feed.share.counts().streams).toBe(1)
    const before = rendered(own)
    await own.commit(slotOf(first, second))
    await until(() => many.every((listener) => lastRow(listener) === 1))
    expect(rendered(own) - before).toBe(1)
    await own.close()
  })

  test('read once for all who come back together, and nothing where the ring still has it (10)', async () => {
    const own = await openFeedLog({ ringRows: 10, batchRows: 5 })
    for (let i = 0; i < 30; i++) await own.commit(slotOf(first))
    await own.known()
    const filter = { addresses: [first], classes: ['OWNED'] } as const
    const { reads } = own.feed.tail.counts()
    const late = Array.from({ length: 50 }, () => listen(own, { filter, position: 25 }))
    await until(() => own.feed.share.counts().live === 50)
    expect(own.feed.tail.counts().reads - reads).toBe(0)
    const later = Array.from({ length: 50 }, () => listen(own, { filter, position: 0 }))
    await until(() => own.feed.share.counts().live === 100)
    expect(own.feed.tail.counts().reads - reads).toBeLessThanOrEqual(6)
    for (const listener of [...late, ...later]) checkHistory(own, listener)
    await own.close()
  })

  test('tell a slow one that it reads by itself again, and hold nothing back from the others (7)', async () => {
    const own = await openFeedLog()
    const filter = { classes: ['OWNED'] } as const
    const [slow, quick] = [
      listen(own, { filter, position: 0 }),
      listen(own, { filter, position: 0 }),
    ]
    await until(() => own.feed.share.counts().live === 2)
    slow.stall(true)
    for (let i = 1; i <= 3; i++) {
      await own.commit(slotOf(first))
      await until(() => lastRow(quick) === i)
    }
    expect(slow.told.map(({ kind }) => kind)).toEqual(['opened'])
    slow.stall(false)
    await until(() => own.feed.share.counts().live === 2)
    expect(slow.told).toMatchObject([
      { kind: 'opened' },
      { kind: 'notice', notice: { topic: 'CATCHING_UP' }, position: { seq: 0 } },
      { kind: 'updates', after: { seq: 0 }, position: { seq: 3 } },
      { kind: 'progress', after: { seq: 3 }, position: { seq: 3 }, isLive: true },
    ])
    expect(quick.told.some(({ kind }) => kind === 'notice')).toBe(false)
    await own.close()
  })

  test('call nobody for rows of others', async () => {
    const own = await openFeedLog()
    const filter = { addresses: [first], classes: ['OWNED'] } as const
    const quiet = listen(own, { filter, position: 0 })
    await until(() => own.feed.share.counts().live === 1)
    const before = rendered(own)
    for (let i = 0; i < 20; i++) await own.commit(slotOf(second))
    await own.known()
    expect([rendered(own) - before, quiet.told.length]).toEqual([0, 1])
    await own.close()
  })

  test('tell all of a notice, each where it stands (8)', async () => {
    const own = await openFeedLog()
    await own.commit(slotOf(first, second))
    await own.known()
    const filter = { addresses: [first], classes: ['OWNED'] } as const
    const [old, fresh] = [
      listen(own, { filter, position: 0 }),
      listen(own, { filter, position: 2 }),
    ]
    await until(() => own.feed.share.counts().live === 2)
    await own.feed.share.emitToAll({ topic: 'DRAINING', closesWithinMs: 5 })
    for (const listener of [old, fresh]) {
      const notice = { topic: 'DRAINING', closesWithinMs: 5 }
      expect(listener.told.at(-1)).toEqual({
        kind: 'notice',
        notice,
        position: own.log.positionAt(2),
      })
    }
    await own.close()
  })
})
