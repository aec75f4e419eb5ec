import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeCursor } from '../../../../src/feed/cursor.ts'
import type { Hex } from '../../../../src/lib/hex.ts'
import type { UpdateClass } from '../../../../src/store/rows.ts'
import { noBranch } from '../../../../src/store/values.ts'
import { addresses, type ModelRow, rowsOf, slotEntries } from '../../../support/log-store.ts'
import { listOf, type PageArguments, pageOf } from '../../../support/page-model.ts'
import { addressText, type ServedLog, serveLog } from '../../../support/serve-log.ts'

const [owner = '0x', , , quiet = '0x'] = addresses
const startSlots = 12
let gateway: ServedLog

beforeAll(async () => {
  gateway = await serveLog()
  await gateway.commit(...fc.sample(slotEntries, { seed: 7, numRuns: startSlots }))
})
afterAll(() => gateway.close())

const pageQuery = /* GraphQL */ `
  query Page(
    $address: String!, $first: Int, $after: String, $last: Int, $before: String,
    $sort: Sort, $startMilestoneIndex: UInt32, $class: UpdateClass
  ) {
    ledgerUpdates(
      address: $address, first: $first, after: $after, last: $last, before: $before,
      sort: $sort, startMilestoneIndex: $startMilestoneIndex, class: $class
    ) {
      edges {
        cursor
        node { cursor ordinal address class roles outputId isSpent milestoneIndex milestoneTimestamp historyHash }
      }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      totalCount
      tipCursor
    }
  }
`

interface PageVariables {
  readonly address: string
  readonly sort?: PageArguments['sort'] | undefined
  readonly startMilestoneIndex?: number | undefined
  readonly class?: UpdateClass | undefined
  readonly first?: number | undefined
  readonly after?: string | null | undefined
  readonly last?: number | undefined
  readonly before?: string | null | undefined
}

function ask(variables: PageVariables) {
  return gateway.ask(pageQuery, variables)
}

async function page(variables: PageVariables) {
  const { data, errors } = await ask(variables)
  expect(errors).toBeUndefined()
  return data.ledgerUpdates
}

function cursorAt(seq: number): string {
  return gateway.log.cursorAt(seq)
}

function edgeOf(row: ModelRow) {
  const { ordinal, roles, outputId, isSpent, milestoneIndex } = row
  const cursor = cursorAt(row.seq)
  return {
    cursor,
    node: {
      cursor,
      ordinal: String(ordinal),
      address: addressText(row.address),
      class: row.class,
      roles,
      outputId,
      isSpent,
      milestoneIndex,
      milestoneTimestamp: 1_700_000_000 + 10 * milestoneIndex,
      historyHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    },
  }
}

/** Builds the expected connection from the plain array of all rows. */
function connectionOf(address: Hex, updateClass: UpdateClass, args: PageArguments) {
  const rows = rowsOf(gateway.log.rows, address, updateClass)
  const expected = pageOf(rows, args)
  const edges = expected.rows.map(edgeOf)
  return {
    edges,
    pageInfo: {
      hasNextPage: expected.hasNextPage,
      hasPreviousPage: expected.hasPreviousPage,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount: String(rows.length),
    tipCursor: cursorAt(gateway.log.rows.length),
  }
}

describe('connection ledgerUpdates', () => {
  const absentOr = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 })
  const anyList = {
    address: fc.constantFrom(...addresses),
    class: fc.constantFrom<UpdateClass>('OWNED', 'MENTIONED'),
    sort: fc.constantFrom<'OLDEST' | 'NEWEST'>('OLDEST', 'NEWEST'),
    startMilestoneIndex: absentOr(fc.nat({ max: startSlots + 20 })),
  }

  test('returns what the simple model returns for any arguments, while slots are committed', async () => {
    const anyPage = fc.record({
      ...anyList,
      first: absentOr(fc.nat({ max: 15 })),
      last: absentOr(fc.nat({ max: 15 })),
      after: absentOr(fc.nat({ max: 1_000 })),
      before: absentOr(fc.nat({ max: 1_000 })),
      slot: absentOr(slotEntries),
    })
    let committed = 0
    await fc.assert(
      fc.asyncProperty(anyPage, async ({ address, class: updateClass, slot, ...drawn }) => {
        // The number of slots is bounded, so that the list of the model stays short enough for a person to read.
        if (slot !== undefined && committed++ < 30) await gateway.commit(slot)
        const positions = gateway.log.rows.length + 1
        const after = drawn.after === undefined ? undefined : drawn.after % positions
        const before = drawn.before === undefined ? undefined : drawn.before % positions
        const variables = {
          ...drawn,
          after: after === undefined ? after : cursorAt(after),
          before: before === undefined ? before : cursorAt(before),
          address: addressText(address),
          class: updateClass,
        }
        const args = present({ ...drawn, after, before })
        expect(await page(variables)).toEqual(connectionOf(address, updateClass, args))
      }),
      { numRuns: runs(200) },
    )
  })

  test('read to its end in either direction, has each update once, while slots are committed', async () => {
    const anyWalk = fc.record({
      ...anyList,
      size: fc.integer({ min: 1, max: 15 }),
      forward: fc.boolean(),
      commits: fc.array(slotEntries, { maxLength: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(anyWalk, async ({ address, size, forward, commits, ...list }) => {
        const atStart = expectedWalk(address, list)
        const cursors: string[] = []
        const slots = commits.values()
        let cursor: string | null = null
        let more = true
        while (more) {
          const range = forward ? { first: size, after: cursor } : { last: size, before: cursor }
          const { edges, pageInfo } = await page({
            ...list,
            ...range,
            address: addressText(address),
          })
          const found = edges.map((edge: { cursor: string }) => edge.cursor)
          if (forward) cursors.push(...found)
          else cursors.unshift(...found)
          more = forward ? pageInfo.hasNextPage : pageInfo.hasPreviousPage
          cursor = forward ? pageInfo.endCursor : pageInfo.startCursor
          const slot = slots.next()
          if (more && !slot.done) await gateway.commit(slot.value)
        }
        // Reading towards the new rows finds those that were committed meanwhile; reading away from them does not.
        const towardsNew = (list.sort === 'OLDEST') === forward
        expect(cursors).toEqual(towardsNew ? expectedWalk(address, list) : atStart)
      }),
      { numRuns: runs(40) },
    )
  })

  function expectedWalk(
    address: Hex,
    list: {
      class: UpdateClass
      sort: PageArguments['sort']
      startMilestoneIndex: number | undefined
    },
  ) {
    const rows = rowsOf(gateway.log.rows, address, list.class)
    return listOf(rows, present(list)).map((row) => cursorAt(row.seq))
  }

  test('without arguments has the newest 100 updates that the address owned', async () => {
    const expected = connectionOf(owner, 'OWNED', { sort: 'NEWEST' })
    expect(await page({ address: addressText(owner) })).toEqual(expected)
  })

  test('is empty for an unknown address', async () => {
    expect(await page({ address: addressText(quiet) })).toMatchObject({
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
      totalCount: '0',
    })
  })

  const refused = [
    ['first below 0', { first: -1 }, 'PAGE_SIZE_OUT_OF_RANGE', { argument: 'first', limit: 1000 }],
    [
      'last above 1000',
      { last: 1001 },
      'PAGE_SIZE_OUT_OF_RANGE',
      { argument: 'last', limit: 1000 },
    ],
    ['a malformed cursor', { after: 'x' }, 'CURSOR_MALFORMED', { argument: 'after' }],
    [
      'a cursor of another log',
      { before: encodeCursor({ logId: '0x0000000000000001', seq: 1, branch: noBranch }) },
      'CURSOR_OF_ANOTHER_LOG',
      { argument: 'before' },
    ],
    [
      'an address of another network',
      { address: addressText(owner, 'iota') },
      'ADDRESS_OF_ANOTHER_NETWORK',
      { argument: 'address', hrp: 'iota', expected: 'tst' },
    ],
    [
      'a text that is not an address',
      { address: 'nobody' },
      'ADDRESS_MALFORMED',
      { argument: 'address', reason: 'BECH32_SEPARATOR_MISSING' },
    ],
  ] as const
  test.each(refused)('refuses %s', async (_name, variables, code, fields) => {
    const { errors } = await ask({ address: addressText(owner), ...variables })
    expect(errors).toMatchObject([{ path: ['ledgerUpdates'], extensions: { ...fields, code } }])
  })

  test('names the limit in the message', async () => {
    const { errors } = await ask({ address: addressText(owner), first: 1001 })
    expect(errors?.[0]?.message).toBe('first: must be from 0 to 1000, not 1001')
  })
})

function present<T extends object>(args: T): { [K in keyof T]: NonNullable<T[K]> } & PageArguments {
  return Object.fromEntries(
    Object.entries(args).filter(([, value]) => value !== undefined),
  ) as never
}

function runs(usual: number): number {
  return Number(process.env.FC_NUM_RUNS ?? usual)
}
