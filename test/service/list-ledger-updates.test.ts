import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeCursor } from '../../src/feed/cursor.ts'
import {
  type LedgerUpdatesRequest,
  listLedgerUpdates,
} from '../../src/service/updates/list-ledger-updates.ts'
import type { UpdateClass } from '../../src/store/rows.ts'
import { noBranch } from '../../src/store/values.ts'
import {
  addresses,
  fixedParameters,
  fixedSlots,
  type LogStore,
  type ModelRow,
  openFixedLog,
  openLogStore,
  rowsOf,
  unwrap,
} from '../support/log-store.ts'
import { type PageArguments, pageOf } from '../support/page-model.ts'
import { addressOf, entry } from '../support/store-rows.ts'

let log: LogStore

beforeAll(async () => {
  log = await openFixedLog()
})
afterAll(() => log.close())

function deps() {
  return { store: log.store, parameters: fixedParameters, mayLag: true }
}

async function ask(question: Partial<LedgerUpdatesRequest>) {
  const address = addresses[0] ?? '0x'
  return await listLedgerUpdates(deps(), { address, class: 'OWNED', sort: 'NEWEST', ...question })
}

function cursorAt(seq: number): string {
  return log.cursorAt(seq)
}

describe('the connection', () => {
  // Often absent and often 0: an empty page has a position in its list too.
  const anySize = fc.oneof(fc.constant(0), fc.nat({ max: 15 }))
  const size = fc.option(anySize, { nil: undefined, freq: 2 })
  const place = fc.option(fc.nat({ max: 1_000 }), { nil: undefined })
  const anyMilestone = fc.option(fc.nat({ max: fixedSlots + 2 }), { nil: undefined, freq: 2 })
  const anyPage = fc.record({
    // Usually one address, sometimes all.
    address: fc.option(fc.constantFrom(...addresses), { nil: undefined }),
    class: fc.constantFrom<UpdateClass>('OWNED', 'MENTIONED'),
    sort: fc.constantFrom<'OLDEST' | 'NEWEST'>('OLDEST', 'NEWEST'),
    startMilestoneIndex: fc.option(fc.nat({ max: fixedSlots + 2 }), { nil: undefined }),
    range: fc.tuple(anyMilestone, anyMilestone),
    first: size,
    after: place,
    last: size,
    before: place,
  })

  test('returns the page of a simple model for any arguments', async () => {
    await fc.assert(
      fc.asyncProperty(anyPage, async ({ address, class: updateClass, range, ...drawn }) => {
        const [fromMilestone, toMilestone] = inOrder(range)
        const tip = log.rows.length
        const bounded = (seq: number | undefined) => seq && seq % (tip + 1)
        const page = withoutAbsent({
          ...drawn,
          after: bounded(drawn.after),
          before: bounded(drawn.before),
        })
        const rows = address === undefined ? log.rows : rowsOf(log.rows, address, updateClass)
        const isWithin = ({ milestoneIndex }: ModelRow) =>
          milestoneIndex >= (fromMilestone ?? 0) && milestoneIndex <= (toMilestone ?? fixedSlots)
        const expected = pageOf(rows.filter(isWithin), page)
        const { after, before } = page
        const answer = unwrap(
          await listLedgerUpdates(deps(), {
            ...(address !== undefined && { address, class: updateClass }),
            fromMilestone,
            toMilestone,
            ...page,
            after: after === undefined ? null : cursorAt(after),
            before: before === undefined ? null : cursorAt(before),
          }),
        )
        expect({
          rows: answer.nodes.map((update) => update.seq),
          hasPreviousPage: await answer.hasPreviousPage(),
          hasNextPage: await answer.hasNextPage(),
          totalCount: await answer.totalCount(),
        }).toEqual({
          ...expected,
          rows: expected.rows.map((row) => row.seq),
          totalCount: rows.length,
        })
      }),
      { numRuns: runs(400) },
    )
  })

  test('returns each update with its cursor and the end of its slot', async () => {
    const page = unwrap(await ask({ sort: 'OLDEST', first: 1 }))
    const row = rowsOf(log.rows, addresses[0] ?? '0x', 'OWNED')[0]
    expect(page.nodes[0]).toMatchObject({
      ...row,
      cursor: cursorAt(row?.seq ?? 0),
      milestoneTimestamp: 1_700_000_000 + 10 * (row?.milestoneIndex ?? 0),
    })
  })

  test('returns the tip of the log, also for an address without updates', async () => {
    const page = unwrap(await ask({ address: addresses[3] ?? '0x' }))
    expect(page.nodes).toEqual([])
    expect(page.tipCursor).toBe(cursorAt(log.rows.length))
  })

  const refused = [
    [
      'a reversed range of milestones',
      { fromMilestone: 4, toMilestone: 3 },
      { code: 'MILESTONE_RANGE_REVERSED', from: 4, to: 3 },
    ],
    [
      'a class without an address',
      { address: undefined, class: 'OWNED' },
      { code: 'UPDATE_CLASS_WITHOUT_ADDRESS' },
    ],
    [
      'a negative first',
      { first: -1 },
      { code: 'PAGE_SIZE_OUT_OF_RANGE', argument: 'first', limit: 1000 },
    ],
    [
      'a first above the limit',
      { first: 1001 },
      { code: 'PAGE_SIZE_OUT_OF_RANGE', argument: 'first', value: 1001 },
    ],
    [
      'a negative last',
      { last: -1 },
      { code: 'PAGE_SIZE_OUT_OF_RANGE', argument: 'last', value: -1 },
    ],
    [
      'a last above the limit',
      { last: 1001 },
      { code: 'PAGE_SIZE_OUT_OF_RANGE', argument: 'last', limit: 1000 },
    ],
    ['a malformed after', { after: 'x' }, { code: 'CURSOR_MALFORMED', argument: 'after' }],
    ['an empty after', { after: '' }, { code: 'CURSOR_MALFORMED', argument: 'after' }],
    ['a malformed before', { before: 'x' }, { code: 'CURSOR_MALFORMED', argument: 'before' }],
    [
      'an after of another log',
      { after: encodeCursor({ logId: '0x0000000000000001', seq: 1, branch: noBranch }) },
      { code: 'CURSOR_OF_ANOTHER_LOG', argument: 'after' },
    ],
    [
      'a before ahead of the tip',
      { before: encodeCursor({ logId: '0x00112233445566ff', seq: 100_000, branch: noBranch }) },
      { code: 'CURSOR_AHEAD_OF_TIP', argument: 'before' },
    ],
  ] as const
  test.each(refused)('rejects %s', async (_name, question, error) => {
    expect(await ask(question)).toMatchObject({ ok: false, error })
  })

  test.each([
    ['OLDEST', [3, 4]],
    ['NEWEST', [3, 4]],
    ['OLDEST', [3]],
  ] as const)(
    'is consistent if slots are committed while it is read: %s, %j',
    async (sort, slots) => {
      const own = await openLogStore()
      const address = addressOf(1)
      await own.commit([entry(1, 1)], [entry(1, 2)])
      const { read } = own.store
      const addressPage: typeof read.addressPage = async (request) => {
        if (own.slot() === 2) await own.commit(...slots.map((n) => [entry(1, n)]))
        return await read.addressPage(request)
      }
      const store = { ...own.store, read: { ...read, addressPage } }
      const question = { address, class: 'OWNED', sort, startMilestoneIndex: 3 } as const
      const page = unwrap(await listLedgerUpdates({ ...deps(), store }, question))
      const seqs = page.nodes.map(({ seq }) => seq)
      expect(seqs).toEqual(sort === 'OLDEST' ? slots : [3, 2, 1])
      const newest = slots.at(-1) ?? 0
      expect([page.tipCursor, await page.totalCount()]).toEqual([own.cursorAt(newest), newest])
      await own.close()
    },
  )

  test('has no page after its tip, whatever is committed later', async () => {
    const own = await openLogStore()
    await own.commit([entry(1, 1)], [entry(2, 2)])
    const question = { address: addressOf(1), class: 'OWNED', sort: 'OLDEST' } as const
    const before = own.cursorAt(2)
    const page = unwrap(
      await listLedgerUpdates({ ...deps(), store: own.store }, { ...question, before }),
    )
    await own.commit([entry(1, 3)])
    expect([page.nodes.map(({ seq }) => seq), await page.hasNextPage()]).toEqual([[1], false])
    await own.close()
  })

  test('has no page before it when the updates there were pruned', async () => {
    const own = await openLogStore()
    await own.commit([entry(1, 1)], [entry(1, 2)], [entry(1, 3)])
    await own.store.write.pruneLog({ milestones: 1, rows: 10_000 })
    const store = own.store
    for (const address of [undefined, addressOf(1)]) {
      const question = { address, sort: 'OLDEST', after: own.cursorAt(2) } as const
      const page = unwrap(await listLedgerUpdates({ ...deps(), store }, question))
      expect([page.nodes.map(({ seq }) => seq), await page.hasPreviousPage()]).toEqual([[3], false])
    }
    await own.close()
  })

  test('accepts the limits themselves', async () => {
    expect(await ask({ first: 1000, last: 1000 })).toMatchObject({ ok: true })
    expect(await ask({ first: 0 })).toMatchObject({ ok: true, value: { nodes: [] } })
  })
})

function withoutAbsent<T extends object>(
  page: T,
): { [K in keyof T]: NonNullable<T[K]> } & PageArguments {
  return Object.fromEntries(
    Object.entries(page).filter(([, value]) => value !== undefined),
  ) as never
}

function runs(usual: number): number {
  return Number(process.env.FC_NUM_RUNS ?? usual)
}

function inOrder([a, b]: readonly [number | undefined, number | undefined]) {
  return a !== undefined && b !== undefined && a > b ? [b, a] : [a, b]
}
