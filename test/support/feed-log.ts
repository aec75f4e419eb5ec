import fc from 'fast-check'
import { expect } from 'vitest'
import { type Feed, type FeedSettings, openFeed } from '../../src/feed/open.ts'
import { type LogReader, readUpdates, type UpdateFilter } from '../../src/feed/read.ts'
import { createWake, type Wake } from '../../src/feed/wake.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { LogEntry, UpdateClass } from '../../src/store/rows.ts'
import { addresses, type LogStore, type ModelRow, openLogStore, outputIdOf } from './log-store.ts'
import { until } from './until.ts'

/** A feed on a log to which a test commits slot by slot. */
export interface FeedLog {
  readonly log: LogStore
  readonly feed: Feed
  readonly wake: Wake
  /** Commits the next slots and wakes the feed. */
  commit(...slots: (readonly LogEntry[])[]): Promise<void>
  /** Resolves when the feed has reached the newest committed slot. */
  known(): Promise<void>
  close(): Promise<void>
}

/** An interval longer than the time limit of any test. */
export const neverMs = 2 ** 30

/** Opens a feed on an empty log. By default no timer of the feed fires. */
export async function openFeedLog(
  settings: Partial<FeedSettings> = {},
  changed: (reader: LogReader) => LogReader = (reader) => reader,
): Promise<FeedLog> {
  const log = await openLogStore()
  const wake = createWake()
  const feed = await openFeed(
    {
      reader: { ...log.store.read, ...changed(log.store.read) },
      parameters: { minCommittableAge: 3 },
      wake,
      log: silentLog,
    },
    { tickMs: neverMs, progressMs: neverMs, ...settings },
  )

  async function commit(...slots: (readonly LogEntry[])[]): Promise<void> {
    await log.commit(...slots)
    wake.notify(log.rows.length)
  }

  async function close(): Promise<void> {
    await feed.close()
    await log.close()
  }

  const known = async () => void (await until(() => feed.tail.tip().slot === log.slot()))

  return { log, feed, wake, commit, known, close }
}

/** A filter with or without addresses, and with any classes. */
export const anyFilter: fc.Arbitrary<UpdateFilter> = fc
  .record({
    addresses: fc.option(fc.uniqueArray(fc.constantFrom(...addresses), { minLength: 1 })),
    classes: fc.constantFrom<UpdateClass[]>(['OWNED'], ['MENTIONED'], ['OWNED', 'MENTIONED']),
  })
  .map(({ addresses: some, classes }) => ({ ...(some && { addresses: some }), classes }))

/** The rows that match a filter. */
export function matching(rows: readonly ModelRow[], filter: UpdateFilter): ModelRow[] {
  return rows.filter(
    (row) =>
      filter.classes.includes(row.class) && (filter.addresses?.includes(row.address) ?? true),
  )
}

/** The positions of rows. */
export function seqsOf(rows: readonly { readonly seq: number }[]): number[] {
  return rows.map((row) => row.seq)
}

let outputs = 0

/** The entries of a slot that creates one output for each of the addresses. */
export function slotOf(...owners: LogEntry['address'][]): LogEntry[] {
  return owners.map((address) => {
    outputs++
    const outputId = outputIdOf((outputs >> 15).toString(16).padStart(2, '0'), outputs & 0x7fff)
    return { address, class: 'OWNED', roles: ['OWNER'], outputId, isSpent: false }
  })
}

/** Asserts that reads of any range up to a position return the matching rows, for any addresses and classes. */
export async function expectAnyRange(log: LogStore, max: number): Promise<void> {
  const anyRange = fc.record({
    after: fc.nat({ max }),
    before: fc.nat({ max }),
    limit: fc.nat({ max: 20 }),
    order: fc.constantFrom<'ascending' | 'descending'>('ascending', 'descending'),
  })
  await fc.assert(
    fc.asyncProperty(anyFilter, anyRange, async (filter, range) => {
      const rows = await readUpdates(log.store.read, { ...filter, ...range })
      const inside = matching(log.rows, filter).filter(
        ({ seq }) => seq > range.after && seq < range.before,
      )
      const turned = range.order === 'ascending' ? inside : inside.reverse()
      expect(seqsOf(rows)).toEqual(seqsOf(turned.slice(0, range.limit)))
    }),
  )
}
