import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Sink } from '../../src/feed/feed-output.ts'
import type { FeedMessage, SnapshotMessage } from '../../src/feed/message.ts'
import type { UpdateFilter } from '../../src/feed/read.ts'
import type { Subscriber } from '../../src/feed/subscriber.ts'
import { createSignal } from '../../src/lib/signal.ts'
import type { OutputId } from '../../src/protocol/primitives.ts'
import {
  anyFilter,
  type FeedLog,
  matching,
  openFeedLog,
  seqsOf,
  slotOf,
} from '../support/feed-log.ts'
import { addresses, outputIdOf, slotEntries } from '../support/log-store.ts'
import { until } from '../support/until.ts'

const [first = '0x', second = '0x'] = addresses

/** A subscriber that stores its messages, and has room unless the test stalls it. */
interface TestSubscriber {
  readonly messages: FeedMessage[]
  readonly filter: UpdateFilter
  readonly start: number
  readonly reader: Subscriber
  stalled: boolean
  isEnded: boolean
  stall(isStalled: boolean): void
}

interface SubscriberStart {
  readonly filter: UpdateFilter
  readonly position: number
  readonly snapshot?: AsyncIterable<SnapshotMessage>
  /** What the rendering of an event waits for. */
  readonly waitsFor?: (event: FeedMessage) => Promise<unknown> | undefined
}

/** Counts how often events were rendered for the feeds of one log. */
const renderings = new WeakMap<object, number>()

function subscribe(
  { feed, log }: Pick<FeedLog, 'feed' | 'log'>,
  { filter, position: start, snapshot, waitsFor }: SubscriberStart,
  failsFirst?: FeedMessage['kind'],
): TestSubscriber {
  let failing = failsFirst
  const messages: FeedMessage[] = []
  let onRoom = () => {}
  const sink: Sink = {
    hasRoom: () => !subscriber.stalled,
    take: ({ text }) => messages.push(JSON.parse(text)),
    room: () =>
      new Promise((resolve) => {
        onRoom = resolve
      }),
    end: () => {
      subscriber.isEnded = true
    },
  }
  const subscriber: TestSubscriber = {
    messages,
    filter,
    start,
    stalled: false,
    isEnded: false,
    stall: (isStalled) => {
      subscriber.stalled = isStalled
      if (!isStalled) onRoom()
    },
    reader: feed.hub.open({
      key: JSON.stringify(filter),
      filter,
      era: feed.tail.tip().era,
      position: log.positionAt(start),
      snapshot,
      render: async (one) => {
        if (one.kind === failing) {
          failing = undefined
          throw new Error('this event cannot be rendered now')
        }
        renderings.set(feed, rendered({ feed }) + 1)
        await waitsFor?.(one)
        return { text: JSON.stringify(one), cursor: undefined }
      },
      sink,
    }),
  }
  return subscriber
}

function rendered({ feed }: Pick<FeedLog, 'feed'>): number {
  return renderings.get(feed) ?? 0
}

/** Checks that a subscriber received each row once and in order, and that every event begins where the previous one ended. */
function checkHistory({ log }: FeedLog, { messages, filter, start }: TestSubscriber): void {
  const expected = matching(log.rows, filter).filter((row) => row.seq > start)
  expect(messages.flatMap((one) => (one.kind === 'updates' ? seqsOf(one.rows) : []))).toEqual(
    seqsOf(expected),
  )
  let position = log.positionAt(start)
  for (const one of messages) {
    if (one.kind === 'updates' || one.kind === 'progress') expect(one.after).toEqual(position)
    expect(one.position.seq).toBeGreaterThanOrEqual(position.seq)
    expect(one.position).toEqual(log.positionAt(one.position.seq))
    if (one.kind === 'opened' || one.kind === 'notice') expect(one.position).toEqual(position)
    position = one.position
  }
}

function lastRow({ messages }: TestSubscriber): number {
  const batches = messages.flatMap((one) => (one.kind === 'updates' ? one.rows : []))
  return batches.at(-1)?.seq ?? 0
}

async function settled(own: FeedLog, subscriber: TestSubscriber): Promise<void> {
  const { filter, start } = subscriber
  const expected = matching(own.log.rows, filter).findLast((row) => row.seq > start)?.seq ?? 0
  await until(() => lastRow(subscriber) >= expected)
}

describe('shared feeds', () => {
  test('send every update once to each subscriber, whichever subscribers stall, leave or come, and whichever wake-ups are lost (1, 2, 3, 4, 7)', async () => {
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
          do: fc.constant('subscribe' as const),
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
          const subscribers: TestSubscriber[] = []
          const pick = (who: number) => subscribers[who % Math.max(subscribers.length, 1)]
          for (const one of commands) {
            if (one.do === 'commit') await own.commit(one.slot)
            else if (one.do === 'silent') await own.log.commit(one.slot)
            else if (one.do === 'turn') await new Promise((resolve) => setImmediate(resolve))
            else if (one.do === 'subscribe') {
              const position = Math.floor(own.feed.tail.tip().seq * one.from)
              subscribers.push(subscribe(own, { filter: one.filter, position }))
            } else if (one.do === 'leave') {
              const [gone] = subscribers.splice(one.who % Math.max(subscribers.length, 1), 1)
              gone?.reader.leave()
            } else pick(one.who)?.stall(one.do === 'stall')
          }
          for (const subscriber of subscribers) subscriber.stall(false)
          for (const subscriber of subscribers) {
            await settled(own, subscriber)
            checkHistory(own, subscriber)
          }
          await until(() => own.feed.hub.counts().live === subscribers.length)
          await own.close()
          expect(subscribers.every(({ isEnded }) => isEnded)).toBe(true)
          expect(own.feed.hub.counts()).toEqual({ feeds: 0, live: 0, streams: 0 })
        },
      ),
      { numRuns: Number(process.env.FC_NUM_RUNS ?? 40) },
    )
  }, 120_000)

  test('execute once for all equal requests (10)', async () => {
    const own = await openFeedLog()
    const filter = { addresses: [first], classes: ['OWNED'] } as const
    const many = Array.from({ length: 50 }, () => subscribe(own, { filter, position: 0 }))
    await until(() => own.feed.hub.counts().live === 50)
    expect(own.feed.hub.counts().streams).toBe(1)
    const before = rendered(own)
    await own.commit(slotOf(first, second))
    await until(() => many.every((subscriber) => lastRow(subscriber) === 1))
    expect(rendered(own) - before).toBe(1)
    await own.close()
  })

  test('begin with the newest milestone, even if it has no updates (6)', async () => {
    const own = await openFeedLog()
    const filter = { addresses: [first], classes: ['OWNED'] } as const
    const begin = () => subscribe(own, { filter, position: 0 })
    const openedIn = ({ messages }: TestSubscriber) => {
      const [opened] = messages
      return opened?.kind === 'opened' ? opened.tip.slot : undefined
    }
    const early = [begin(), begin()]
    await until(() => own.feed.hub.counts().live === 2)
    expect(early.map(openedIn)).toEqual([0, 0])
    await own.commit([], [])
    await own.known()
    const late = begin()
    await until(() => own.feed.hub.counts().live === 3)
    expect(openedIn(late)).toBe(2)
    await own.close()
  })

  test('send each feed its own snapshot, even if the snapshots of two feeds begin equally (17)', async () => {
    const own = await openFeedLog()
    const filter = { addresses: [first], classes: ['OWNED'] } as const
    const position = own.log.positionAt(0)
    async function* snapshotOf(outputIds: readonly OutputId[]): AsyncGenerator<SnapshotMessage> {
      yield { kind: 'snapshot', position, outputIds, isLast: false }
      yield { kind: 'snapshot', position, outputIds: [], isLast: true }
    }
    const ids = (...indices: number[]) => indices.map((index) => outputIdOf('11', index))
    const snapshots = [ids(1, 2, 3), ids(1, 3, 4)]
    const feeds = snapshots.map((some) =>
      subscribe(own, { filter, position: 0, snapshot: snapshotOf(some) }),
    )
    await until(() => own.feed.hub.counts().live === 2)
    const received = feeds.map(({ messages }) =>
      messages.flatMap((one) => (one.kind === 'snapshot' ? one.outputIds : [])),
    )
    expect(received).toEqual(snapshots)
    await own.close()
  })

  test('read once for all feeds that resume together, and nothing that the ring still has (10)', async () => {
    const own = await openFeedLog({ ringRows: 10, batchRows: 5 })
    for (let i = 0; i < 30; i++) await own.commit(slotOf(first))
    await own.known()
    const filter = { addresses: [first], classes: ['OWNED'] } as const
    const { rowReads } = own.feed.tail.counts()
    const late = Array.from({ length: 50 }, () => subscribe(own, { filter, position: 25 }))
    await until(() => own.feed.hub.counts().live === 50)
    expect(own.feed.tail.counts().rowReads - rowReads).toBe(0)
    const later = Array.from({ length: 50 }, () => subscribe(own, { filter, position: 0 }))
    await until(() => own.feed.hub.counts().live === 100)
    expect(own.feed.tail.counts().rowReads - rowReads).toBeLessThanOrEqual(6)
    for (const subscriber of [...late, ...later]) checkHistory(own, subscriber)
    await own.close()
  })

  test('let a slow subscriber catch up after a notice, and delay no other (7)', async () => {
    const own = await openFeedLog()
    const filter = { classes: ['OWNED'] } as const
    const [slow, quick] = [
      subscribe(own, { filter, position: 0 }),
      subscribe(own, { filter, position: 0 }),
    ]
    await until(() => own.feed.hub.counts().live === 2)
    slow.stall(true)
    for (let i = 1; i <= 3; i++) {
      await own.commit(slotOf(first))
      await until(() => lastRow(quick) === i)
    }
    expect(slow.messages.map(({ kind }) => kind)).toEqual(['opened'])
    slow.stall(false)
    await until(() => own.feed.hub.counts().live === 2)
    expect(slow.messages).toMatchObject([
      { kind: 'opened' },
      { kind: 'notice', notice: { topic: 'CATCHING_UP' }, position: { seq: 0 } },
      { kind: 'updates', after: { seq: 0 }, position: { seq: 3 } },
      { kind: 'progress', after: { seq: 3 }, position: { seq: 3 }, isLive: true },
    ])
    expect(quick.messages.some(({ kind }) => kind === 'notice')).toBe(false)
    await own.close()
  })

  test('send rows again after a failed rendering (3)', async () => {
    const own = await openFeedLog({ tickMs: 5 })
    for (let i = 0; i < 3; i++) await own.commit(slotOf(first))
    await own.known()
    const subscriber = subscribe(own, { filter: { classes: ['OWNED'] }, position: 0 }, 'updates')
    await until(() => own.feed.hub.counts().live === 1)
    checkHistory(own, subscriber)
    await own.close()
  })

  test('send a feed no row again if it joins while an earlier row is rendered for others (3)', async () => {
    const own = await openFeedLog()
    const filter: UpdateFilter = { classes: ['OWNED'] }
    const rendering = createSignal()
    const earlier = rendering.wait()
    const isEarlier = ({ kind, position }: FeedMessage) => kind === 'updates' && position.seq === 1
    const waitsFor = (event: FeedMessage) => (isEarlier(event) ? earlier : undefined)
    const old = subscribe(own, { filter, position: 0, waitsFor })
    await until(() => old.reader.isLive())
    for (let i = 0; i < 2; i++) {
      await own.commit(slotOf(first))
      await own.known()
    }
    const fresh = subscribe(own, { filter, position: 2 })
    await until(() => fresh.reader.isLive())
    rendering.notify()
    await own.commit(slotOf(first))
    for (const one of [old, fresh]) {
      await settled(own, one)
      checkHistory(own, one)
    }
    await own.close()
  })

  test('send nothing for rows of other addresses', async () => {
    const own = await openFeedLog()
    const filter = { addresses: [first], classes: ['OWNED'] } as const
    const quiet = subscribe(own, { filter, position: 0 })
    await until(() => own.feed.hub.counts().live === 1)
    const before = rendered(own)
    for (let i = 0; i < 20; i++) await own.commit(slotOf(second))
    await own.known()
    expect([rendered(own) - before, quiet.messages.length]).toEqual([0, 1])
    await own.close()
  })

  test('send a notice that is rendered at the same time as new rows with the position of the last event (3, 6)', async () => {
    const own = await openFeedLog()
    const filter: UpdateFilter = { addresses: [first], classes: ['OWNED'] }
    const live = subscribe(own, { filter, position: 0 })
    await until(() => live.reader.isLive())
    const notice = { topic: 'DRAINING', closesWithinMs: 1_000 } as const
    // Runs right after the feed has begun to render the rows.
    own.feed.tail.watchTip(() => void live.reader.emit(notice))
    await own.commit(slotOf(first))
    await until(() => live.messages.some(({ kind }) => kind === 'notice'))
    await settled(own, live)
    checkHistory(own, live)
    await own.close()
  })

  test('send a notice after the first event, even if that takes longer to render (6)', async () => {
    const own = await openFeedLog()
    const filter: UpdateFilter = { addresses: [first], classes: ['OWNED'] }
    const rendering = createSignal()
    const opening = rendering.wait()
    const waitsFor = ({ kind }: FeedMessage) => (kind === 'opened' ? opening : undefined)
    const feed = subscribe(own, { filter, position: 0, waitsFor })
    await own.feed.hub.emitToAll({ topic: 'DRAINING', closesWithinMs: 5 })
    expect(feed.messages).toEqual([])
    rendering.notify()
    await until(() => feed.messages.length === 2)
    expect(feed.messages.map(({ kind }) => kind)).toEqual(['opened', 'notice'])
    await own.close()
  })

  test('send a notice to all subscribers, each with its own position (8)', async () => {
    const own = await openFeedLog()
    await own.commit(slotOf(first, second))
    await own.known()
    const filter = { addresses: [first], classes: ['OWNED'] } as const
    const [old, fresh] = [
      subscribe(own, { filter, position: 0 }),
      subscribe(own, { filter, position: 2 }),
    ]
    await until(() => own.feed.hub.counts().live === 2)
    await own.feed.hub.emitToAll({ topic: 'DRAINING', closesWithinMs: 5 })
    for (const subscriber of [old, fresh]) {
      const notice = { topic: 'DRAINING', closesWithinMs: 5 }
      expect(subscriber.messages.at(-1)).toEqual({
        kind: 'notice',
        notice,
        position: own.log.positionAt(2),
      })
    }
    await own.close()
  })
})
