import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listExplorerUpdates } from '../../src/service/updates/list-explorer-updates.ts'
import { parsePageCursor, printPageCursor } from '../../src/service/updates/update-position.ts'
import {
  addresses,
  fixedParameters,
  fixedSlots,
  type LogStore,
  openFixedLog,
  openLogStore,
  outputIdOf,
  rowsOf,
  unwrap,
} from '../support/log-store.ts'
import { listOf, type PageArguments } from '../support/page-model.ts'

let log: LogStore

beforeAll(async () => {
  log = await openFixedLog()
})
afterAll(() => log.close())

function deps() {
  return { store: log.store, parameters: fixedParameters }
}

/** Identifies a record among those of an address. */
function nameOf(record: { milestoneIndex: number; outputId: string; isSpent: boolean }): string {
  return `${record.milestoneIndex} ${record.outputId} ${record.isSpent}`
}

describe('explorer list', () => {
  const anyQuestion = fc.record({
    address: fc.constantFrom(...addresses),
    sort: fc.constantFrom<'OLDEST' | 'NEWEST'>('OLDEST', 'NEWEST'),
    pageSize: fc.integer({ min: 1, max: 15 }),
    startMilestoneIndex: fc.option(fc.nat({ max: fixedSlots + 2 }), { nil: undefined }),
  })

  test('returns the whole list by its cursors without a missing or repeated record', async () => {
    await fc.assert(
      fc.asyncProperty(anyQuestion, async (question) => {
        const expected = listOf(
          rowsOf(log.rows, question.address, 'OWNED'),
          withoutAbsent(question),
        )
        const pages = await walk(question)
        expect(pages.flat()).toEqual(expected.map(nameOf))
        for (const page of pages.slice(0, -1)) expect(page).toHaveLength(question.pageSize)
      }),
      { numRuns: runs(100) },
    )
  })

  async function walk(question: Omit<Parameters<typeof listExplorerUpdates>[1], 'cursor'>) {
    const pages: string[][] = []
    let cursor: string | undefined
    do {
      const parsed = cursor === undefined ? undefined : unwrap(parsePageCursor(cursor))
      // The cursor must override this page size of 1.
      const pageSize = parsed === undefined ? question.pageSize : 1
      const page = await listExplorerUpdates(deps(), { ...question, pageSize, cursor: parsed })
      pages.push(page.updates.map(nameOf))
      cursor = page.cursor
    } while (cursor !== undefined && pages.length < 1_000)
    return pages
  }

  const anyPosition = fc.record({
    milestoneIndex: fc.nat({ max: fixedSlots + 2 }),
    outputId: fc
      .tuple(fc.constantFrom('00', '11', '9f', 'a0', 'ff'), fc.constantFrom(0, 1, 3, 255, 256))
      .map(([byte, index]) => outputIdOf(byte, index)),
    isSpent: fc.boolean(),
  })

  test('accepts a cursor as a position in the order, with or without a record there', async () => {
    await fc.assert(
      fc.asyncProperty(anyQuestion, anyPosition, async ({ address, sort }, position) => {
        const cursor = { position, pageSize: 7 }
        const page = await listExplorerUpdates(deps(), {
          address,
          sort,
          pageSize: 100,
          startMilestoneIndex: 0,
          cursor,
        })
        const sign = sort === 'OLDEST' ? 1 : -1
        const expected = listOf(rowsOf(log.rows, address, 'OWNED'), { sort })
          .filter((row) => sign * comparePositions(row, position) >= 0)
          .slice(0, 8)
        expect(page.updates.map(nameOf)).toEqual(expected.slice(0, 7).map(nameOf))
        const next = expected[7]
        expect(page.cursor).toBe(next && printPageCursor({ position: next, pageSize: 7 }))
      }),
      { numRuns: runs(200) },
    )
  })

  test('limits the page size to 1000, also in a cursor', async () => {
    const question = { sort: 'OLDEST', startMilestoneIndex: undefined, pageSize: 5_000 } as const
    const own = await openLogStore()
    const address = addresses[0] ?? '0x'
    const entry = { address, class: 'OWNED', roles: ['OWNER'], isSpent: false } as const
    await own.commit(
      Array.from({ length: 1_001 }, (_, index) => ({
        ...entry,
        outputId: outputIdOf('11', index),
      })),
    )
    const from = { store: own.store, parameters: fixedParameters }
    const first = await listExplorerUpdates(from, { ...question, address, cursor: undefined })
    expect(first.updates).toHaveLength(1_000)
    expect(first.cursor).toBe(`1.${outputIdOf('11', 1_000)}.false.1000`)
    const position = { milestoneIndex: 1, outputId: outputIdOf('11', 0), isSpent: false }
    const cursor = { position, pageSize: 2_000 }
    const again = await listExplorerUpdates(from, { ...question, address, cursor })
    expect(again).toEqual(first)
    for (const sort of ['OLDEST', 'NEWEST'] as const) {
      const listed: string[] = []
      let next: string | undefined
      do {
        const parsed = next === undefined ? undefined : unwrap(parsePageCursor(next))
        const request = { ...question, sort, address, pageSize: 90, cursor: parsed }
        const page = await listExplorerUpdates(from, request)
        listed.push(...page.updates.map(nameOf))
        next = page.cursor
      } while (next !== undefined)
      const expected = listOf(own.rows, { sort }).map(nameOf)
      expect(listed, 'all records of a milestone with many records of one address').toEqual(
        expected,
      )
    }
    await own.close()
  })
})

/** Compares records in the order that the REST documentation states, with the parts of the id as numbers. */
function comparePositions(
  a: { milestoneIndex: number; outputId: string; isSpent: boolean },
  b: typeof a,
): number {
  const parts = ({ milestoneIndex, outputId, isSpent }: typeof a) => [
    BigInt(milestoneIndex),
    BigInt(outputId.slice(0, 74)),
    BigInt(Buffer.from(outputId.slice(74), 'hex').readUInt16LE()),
    BigInt(isSpent),
  ]
  const other = parts(b)
  const difference = parts(a)
    .map((part, i) => part - (other[i] ?? 0n))
    .find((part) => part !== 0n)
  return difference === undefined ? 0 : difference < 0n ? -1 : 1
}

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
