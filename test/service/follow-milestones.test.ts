import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { followMilestones } from '../../src/service/feed/follow-milestones.ts'
import { type FeedLog, openFeedLog, slotOf } from '../support/feed-log.ts'
import { addresses, commitmentIdAt, unwrap } from '../support/log-store.ts'
import { servedParameters as parameters } from '../support/serve-log.ts'

const [owner = '0x'] = addresses
let own: FeedLog

beforeAll(async () => {
  own = await openFeedLog()
  for (let i = 0; i < 3; i++) await own.commit(slotOf(owner), [])
  await own.known()
})
afterAll(() => own.close())

async function open(after?: number) {
  return await followMilestones({ store: own.log.store, parameters, feed: own.feed }, after)
}

describe('milestones', () => {
  test('are sent in order from any of them on, including empty ones, and then as they are committed (16)', async () => {
    const feed = unwrap(await open(2))
    const indices: number[] = []
    while (indices.length < 6) {
      if (indices.length === 4) await own.commit([], slotOf(owner))
      const { value } = await feed.next()
      indices.push(value.index)
      expect(value.updateCount).toBe(
        own.log.rows.filter((row) => row.milestoneIndex === value.index).length,
      )
    }
    expect(indices).toEqual([3, 4, 5, 6, 7, 8])
    await feed.return?.()
  })

  test('without a start index are those committed from then on', async () => {
    const feed = unwrap(await open())
    const next = feed.next()
    await own.commit([])
    expect((await next).value).toMatchObject({ index: own.log.slot() })
    await feed.return?.()
  })

  test('end at once when the feed is closed', async () => {
    const feed = unwrap(await open())
    const pending = feed.next()
    await feed.return?.()
    expect(await pending).toEqual({ done: true, value: undefined })
  })

  test('end when an older copy of the log continues, instead of skipping the milestones that differ (16)', async () => {
    const copy = await openFeedLog()
    await copy.commit([], [], [])
    await copy.known()
    const all = { store: copy.log.store, parameters, feed: copy.feed }
    const feed = unwrap(await followMilestones(all, 2))
    expect((await feed.next()).value).toMatchObject({ index: 3 })
    const next = feed.next()
    await copy.log.rewind(1)
    await copy.commit([], [], [], [])
    expect(await next).toEqual({ done: true, value: undefined })
    await copy.close()
  })

  test('end for a slow subscriber before the first of an older copy that the gateway has not noticed yet (16)', async () => {
    const copy = await openFeedLog()
    await copy.commit(...Array.from({ length: 250 }, () => []))
    await copy.known()
    const all = { store: copy.log.store, parameters, feed: copy.feed }
    const feed = unwrap(await followMilestones(all, 0))
    const received: string[] = []
    for (let i = 0; i < 100; i++) received.push((await feed.next()).value.commitmentId)
    await copy.log.rewind(50)
    await copy.log.commit(...Array.from({ length: 250 }, () => []))
    // Nothing wakes the feed: it only reads the next page for its subscriber.
    expect(await feed.next()).toEqual({ done: true, value: undefined })
    expect(received.at(-1)).toBe(commitmentIdAt(100, 'first'))
    await copy.close()
  })

  test('are rejected with a start index that is not committed', async () => {
    expect(await open(1_000)).toMatchObject({
      ok: false,
      error: { code: 'MILESTONE_NOT_COMMITTED', argument: 'after', newest: own.log.slot() },
    })
  })
})
