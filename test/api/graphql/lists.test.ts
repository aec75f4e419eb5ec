import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { hexToBytes } from '../../../src/lib/hex.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { developmentParameters } from '../../../src/node/embedded/development-parameters.ts'
import { Block } from '../../../src/protocol/block.ts'
import type { BlockId } from '../../../src/protocol/primitives.ts'
import { decode, encode } from '../../../src/protocol/schema/schema.ts'
import type { IncomingBlock, Store } from '../../../src/store/contract.ts'
import type { Database } from '../../../src/store/database.ts'
import { openDatabase } from '../../../src/store/open.ts'
import { createReader } from '../../../src/store/reader.ts'
import { openedStore, usualDatabase } from '../../support/databases.ts'
import { askSchema } from '../../support/graphql.ts'
import { unwrap } from '../../support/log-store.ts'
import { createRandom } from '../../support/random.ts'
import {
  blockIdOf,
  createdOutput,
  entry,
  incomingBlock,
  outputIdOf,
  slotCommit,
  testGenesis,
  testId,
  transactionIdOf,
} from '../../support/store-rows.ts'
import { loadVectors, type Vector } from '../../support/vectors.ts'

/** Lists and the edges between blocks, transactions, milestones and outputs, against a naive model of the same ledger. */

const slots = 8
const kinds = ['basic', 'validation', 'candidacy', 'tagged', 'transaction'] as const
const time = { genesisSlot: 0, genesisUnixTimestamp: 0n, slotDurationInSeconds: 10 }
const parameters = { ...developmentParameters(0), ...time, bech32Hrp: 'tst' }

interface Kept extends IncomingBlock {
  readonly inbox: number
}

const database = await usualDatabase().create()
const random = createRandom(11)
const carrying = vectorBytes('transactions')
const plain = vectorBytes('blocks')
let store: Store
let reads: Database
let term: number
/** Texts of the statements since it was emptied. */
const asked: string[] = []
const kept: Kept[] = []
let committed = 0

beforeAll(async () => {
  store = await openedStore(database.url)
  const opened = await openDatabase({ url: database.url, log: silentLog })
  if (!opened.ok) throw new Error(opened.error.code)
  reads = opened.value
  term = unwrap(await store.write.takeLease({ holder: 'test', ttlMs: 3_600_000 })).term
  await store.write.initialize(term, testGenesis({ commit: slotCommit(0) }))
  for (let slot = 1; slot <= slots; slot++) await commitSlot(12)
})
afterAll(async () => {
  await reads.close()
  await store.close()
  await database.remove()
})

/** Books blocks of every kind into the next slot and commits it. */
async function commitSlot(count: number): Promise<void> {
  const slot = committed + 1
  const blocks = Array.from({ length: count }, (_, i): Kept => {
    const n = kept.length + i
    const kind = kinds[n % kinds.length] ?? 'basic'
    const refersTo = [n - 1, n - 3]
      .filter((parent) => parent >= 0)
      .map((parent) => blockIdOf(parent))
    const bytes = kind === 'transaction' ? carrying(n) : plain(n)
    return {
      ...incomingBlock(n, {
        kind,
        slot,
        issuerId: testId('AccountId', 32, n % 3),
        // Some are of one time.
        issuingTime: 1_700_000_000_000_000_000n + BigInt(slot * 100 + random.between(0, 6)),
        bytes: withParents(bytes, refersTo),
        transactionId: kind === 'transaction' ? transactionIdOf(n - (n % 10)) : undefined,
        parents: refersTo,
      }),
      inbox: n + 1,
    }
  })
  kept.push(...blocks)
  await store.write.acceptBlocks(blocks)
  const carried = new Map(blocks.map((block) => [block.transactionId, block]))
  const known = await store.read.transactions([...carried.keys()].filter((id) => id !== undefined))
  const pending = known.filter(({ state }) => state === 'PENDING')
  unwrap(
    await store.write.book(term, {
      blocks: blocks.map(({ blockId }, i) => ({
        blockId,
        state: i % 4 === 3 ? 'DROPPED' : 'ACCEPTED',
      })),
      transactions: pending.map(({ transactionId, blockId }, i) => ({
        ...{ transactionId, blockId, slot, allotments: [] },
        state: i % 2 === 0 ? 'ACCEPTED' : 'FAILED',
        failureReason: i % 2 === 0 ? undefined : 1,
      })),
      created: [
        createdOutput(slot, { bookedSlot: slot, blockId: present(blocks[0], 'block').blockId }),
      ],
      spent:
        slot < 2
          ? []
          : [{ outputId: outputIdOf(slot - 1), spentSlot: slot, spentBy: transactionIdOf(0) }],
    }),
  )
  unwrap(await store.write.closeSlots(term, slot))
  const entries = [
    entry(slot, slot),
    ...(slot < 2 ? [] : [entry(slot - 1, slot - 1, { isSpent: true })]),
  ]
  unwrap(await store.write.commitSlots(term, [slotCommit(slot, entries)]))
  committed = slot
}

function vectorBytes(file: string) {
  const blocks = loadVectors<Vector & { bytes: `0x${string}` }>(file)
    .map(({ bytes }) => hexToBytes(bytes))
    .filter((bytes) => bytes[89] === 0 && bytes.length < 4_000)
  return (n: number) => present(blocks[n % blocks.length], 'vector')
}

function withParents(bytes: Uint8Array, parents: readonly BlockId[]): Uint8Array {
  const block = decode(Block, bytes)
  if (!block.ok) throw new Error(block.error.code)
  const strongParents = parents.length === 0 ? [blockIdOf(9_999)] : [...parents].sort()
  return encode(Block, {
    ...block.value,
    body: { ...block.value.body, strongParents, weakParents: [], shallowLikeParents: [] },
  })
}

const ask = (source: string, variables: Readonly<Record<string, unknown>> = {}) =>
  askSchema({ store, parameters }, source, variables)

/** The same on a reader whose statements are counted; each query runs twice, compiled and not. */
async function askCounted(source: string, variables: Readonly<Record<string, unknown>> = {}) {
  asked.length = 0
  const counted: Database = {
    ...reads,
    query: (sql, values) => {
      asked.push(sql)
      return reads.query(sql, values)
    },
  }
  const read = createReader(counted)
  const answer = await askSchema({ store: { ...store, read }, parameters }, source, variables)
  expect(answer.errors).toBeUndefined()
  return { answer, statements: asked.length / 2 }
}

function newestFirst(a: Kept, b: Kept): number {
  if (a.slot !== b.slot) return b.slot - a.slot
  if (a.issuingTime !== b.issuingTime) return a.issuingTime < b.issuingTime ? 1 : -1
  return b.inbox - a.inbox
}

/** A list that is walked: its field with the place of the arguments, and what is selected of its nodes. */
interface Walk {
  readonly list: (args: string) => string
  readonly read: (data: never) => Page
  readonly expected: () => Promise<readonly unknown[]> | readonly unknown[]
}

interface Page {
  readonly edges: readonly { readonly cursor: string; readonly node: Record<string, unknown> }[]
  readonly pageInfo: {
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
    readonly startCursor: string | null
    readonly endCursor: string | null
  }
}

const page =
  '{ edges { cursor node { id: NODE } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }'

function walkOf(field: string, node: string, filter: string, expected: Walk['expected']): Walk {
  const withFilter = (args: string) => (filter === '' ? args : `filter: { ${filter} } ${args}`)
  return {
    list: (args) => `{ list: ${field}(${withFilter(args)}) ${page.replace('NODE', node)} }`,
    read: ({ list }) => list,
    expected,
  }
}

function nestedWalk(root: string, field: string, node: string, expected: Walk['expected']): Walk {
  return {
    list: (args) => `{ root: ${root} { list: ${field}(${args}) ${page.replace('NODE', node)} } }`,
    read: ({ root }: { root: { list: Page } }) => root.list,
    expected,
  }
}

const blocksWhere =
  (isMeant: (block: Kept & { readonly state: string }) => boolean) => async () => {
    const rows = await store.read.blocks(kept.map(({ blockId }) => blockId))
    const stateOf = new Map(rows.map(({ blockId, state }) => [blockId, state]))
    return kept
      .map((block) => ({ ...block, state: present(stateOf.get(block.blockId), 'state') }))
      .filter(isMeant)
      .sort(newestFirst)
      .map(({ blockId }) => blockId)
  }

const transactionsWhere =
  (isMeant: (row: { slot: number; state: string }) => boolean) => async () => {
    const ids = kept.flatMap(({ transactionId }) => transactionId ?? [])
    const rows = (await store.read.transactions(ids)).filter(isMeant)
    const key = (row: { slot: number; transactionId: string }) =>
      `${String(row.slot).padStart(4, '0')}${row.transactionId}`
    return rows.sort((a, b) => (key(a) < key(b) ? 1 : -1)).map(({ transactionId }) => transactionId)
  }

const issuer = testId('AccountId', 32, 1)
const walks: [string, Walk][] = [
  [
    'blocks',
    walkOf(
      'blocks',
      'blockId',
      '',
      blocksWhere(() => true),
    ),
  ],
  [
    'basic blocks',
    walkOf(
      'blocks',
      'blockId',
      'kind: BASIC',
      blocksWhere(({ kind }) => kind !== 'validation'),
    ),
  ],
  [
    'basic blocks that carry nothing',
    walkOf(
      'blocks',
      'blockId',
      'kind: BASIC payload: NONE',
      blocksWhere(({ kind }) => kind === 'basic'),
    ),
  ],
  [
    'blocks with tagged data',
    walkOf(
      'blocks',
      'blockId',
      'payload: TAGGED_DATA',
      blocksWhere(({ kind }) => kind === 'tagged'),
    ),
  ],
  [
    'validation blocks with a transaction',
    walkOf('blocks', 'blockId', 'kind: VALIDATION payload: TRANSACTION', () => []),
  ],
  [
    'dropped blocks',
    walkOf(
      'blocks',
      'blockId',
      'state: DROPPED',
      blocksWhere(({ state }) => state === 'DROPPED'),
    ),
  ],
  [
    'final blocks with candidacies, of some milestones',
    walkOf(
      'blocks',
      'blockId',
      'state: FINALIZED payload: CANDIDACY fromMilestone: 3 toMilestone: 6',
      blocksWhere(
        ({ state, kind, slot }) =>
          state === 'FINALIZED' && kind === 'candidacy' && slot >= 3 && slot <= 6,
      ),
    ),
  ],
  [
    'blocks of an issuer',
    walkOf(
      'blocks',
      'blockId',
      `issuerId: "${issuer}"`,
      blocksWhere(({ issuerId }) => issuerId === issuer),
    ),
  ],
  [
    'transactions of an issuer, in blocks',
    walkOf(
      'blocks',
      'blockId',
      `issuerId: "${issuer}" payload: TRANSACTION fromMilestone: 2`,
      blocksWhere(
        ({ issuerId, kind, slot }) => issuerId === issuer && kind === 'transaction' && slot >= 2,
      ),
    ),
  ],
  [
    'transactions',
    walkOf(
      'transactions',
      'transactionId',
      '',
      transactionsWhere(() => true),
    ),
  ],
  [
    'failed transactions',
    walkOf(
      'transactions',
      'transactionId',
      'state: FAILED',
      transactionsWhere(({ state }) => state === 'FAILED'),
    ),
  ],
  [
    'transactions of some milestones',
    walkOf(
      'transactions',
      'transactionId',
      'toMilestone: 4',
      transactionsWhere(({ slot }) => slot <= 4),
    ),
  ],
  ['milestones', walkOf('milestones', 'index', '', () => countdown(committed, 0))],
  [
    'some milestones',
    walkOf('milestones', 'index', 'fromMilestone: 2 toMilestone: 5', () => countdown(5, 2)),
  ],
  [
    'blocks of a milestone',
    nestedWalk(
      'milestone(index: 3)',
      'blocks',
      'blockId',
      blocksWhere(({ slot }) => slot === 3),
    ),
  ],
  [
    'transactions of a milestone',
    nestedWalk(
      'milestone(index: 3)',
      'transactions',
      'transactionId',
      transactionsWhere(({ slot }) => slot === 3),
    ),
  ],
  [
    'carriers of a transaction',
    nestedWalk(
      `transaction(id: "${transactionIdOf(0)}")`,
      'carriers',
      'blockId',
      blocksWhere(({ transactionId }) => transactionId === transactionIdOf(0)),
    ),
  ],
  [
    'children of a block',
    nestedWalk(`block(id: "${blockIdOf(5)}")`, 'children', 'blockId', () =>
      [blockIdOf(6), blockIdOf(8)].sort().reverse(),
    ),
  ],
]

function countdown(from: number, to: number): number[] {
  return Array.from({ length: from - to + 1 }, (_, i) => from - i)
}

describe('a list', () => {
  test.each(walks)('of %s is walked in both directions', async (_name, walk) => {
    const expected = await walk.expected()
    for (const sort of ['NEWEST', 'OLDEST']) {
      const all = sort === 'NEWEST' ? expected : [...expected].reverse()
      for (const size of [1, 3, 7, 1000]) {
        if (size === 1 && all.length > 20) continue
        expect(await walkForward(walk, sort, size)).toEqual(all)
        expect(await walkBackward(walk, sort, size)).toEqual(all)
      }
    }
  })

  async function pageOf(walk: Walk, args: string): Promise<Page> {
    const { data, errors } = await ask(walk.list(args))
    expect(errors).toBeUndefined()
    const found = walk.read(data as never)
    expect(found.pageInfo.startCursor).toBe(found.edges[0]?.cursor ?? null)
    expect(found.pageInfo.endCursor).toBe(found.edges.at(-1)?.cursor ?? null)
    return found
  }

  async function walkForward(walk: Walk, sort: string, size: number, between = async () => {}) {
    const found: unknown[] = []
    let after = ''
    for (;;) {
      const { edges, pageInfo } = await pageOf(walk, `sort: ${sort} first: ${size} ${after}`)
      expect(pageInfo.hasPreviousPage).toBe(found.length > 0)
      found.push(...edges.map(({ node }) => node.id))
      if (!pageInfo.hasNextPage) return found
      expect(edges).toHaveLength(size)
      after = `after: "${pageInfo.endCursor}"`
      await between()
    }
  }

  async function walkBackward(walk: Walk, sort: string, size: number) {
    const found: unknown[] = []
    let before = ''
    for (;;) {
      const { edges, pageInfo } = await pageOf(walk, `sort: ${sort} last: ${size} ${before}`)
      expect(pageInfo.hasNextPage).toBe(found.length > 0)
      found.unshift(...edges.map(({ node }) => node.id))
      if (!pageInfo.hasPreviousPage) return found
      expect(edges).toHaveLength(size)
      before = `before: "${pageInfo.startCursor}"`
    }
  }

  test('has 20 elements where no number is given, first before last', async () => {
    const [, all] = present(walks[0], 'blocks')
    const expected = await all.expected()
    const ids = async (args: string) => (await pageOf(all, args)).edges.map(({ node }) => node.id)
    expect(await ids('sort: NEWEST')).toEqual(expected.slice(0, 20))
    expect(await ids('first: 10 last: 3')).toEqual(expected.slice(7, 10))
    expect(await ids('first: 0')).toEqual([])
    const { pageInfo } = await pageOf(all, 'first: 10 last: 3')
    expect(pageInfo).toMatchObject({ hasPreviousPage: true, hasNextPage: true })
  })

  test.each([
    ['blocks'],
    ['final blocks with candidacies, of some milestones'],
    ['transactions'],
    ['milestones'],
  ])('of %s keeps its order while slots are committed', async (name) => {
    const [, walk] = present(
      walks.find(([one]) => one === name),
      name,
    )
    const before = await walk.expected()
    expect(await walkForward(walk, 'NEWEST', 9, () => commitSlot(3))).toEqual(before)
    const oldest = await walkForward(walk, 'OLDEST', 30, () =>
      committed < 40 ? commitSlot(3) : Promise.resolve(),
    )
    expect(oldest).toEqual([...(await walk.expected())].reverse())
  })

  test.each([
    ['blocks(after: "x")', 'CURSOR_MALFORMED', { argument: 'after' }],
    ['blocks(before: "YmxvY2suMS4yLjM=")', 'CURSOR_MALFORMED', { argument: 'before' }],
    ['transactions(after: "YmxvY2suMS4yLjM")', 'CURSOR_MALFORMED', { argument: 'after' }],
    ['milestones(after: "")', 'CURSOR_MALFORMED', { argument: 'after' }],
    ['blocks(first: -1)', 'PAGE_SIZE_OUT_OF_RANGE', { argument: 'first', value: -1, limit: 1000 }],
    [
      'transactions(last: 1001)',
      'PAGE_SIZE_OUT_OF_RANGE',
      { argument: 'last', value: 1001, limit: 1000 },
    ],
    [
      'blocks(filter: { fromMilestone: 5, toMilestone: 4 })',
      'MILESTONE_RANGE_REVERSED',
      { from: 5, to: 4 },
    ],
    [
      'transactions(filter: { fromMilestone: 1, toMilestone: 0 })',
      'MILESTONE_RANGE_REVERSED',
      { from: 1, to: 0 },
    ],
    [
      'milestones(filter: { fromMilestone: 9, toMilestone: 0 })',
      'MILESTONE_RANGE_REVERSED',
      { from: 9, to: 0 },
    ],
    [
      `blocks(filter: { state: DROPPED, issuerId: "${issuer}" })`,
      'FILTER_AMBIGUOUS',
      { members: 'state or issuerId' },
    ],
  ])('refuses %s', async (field, code, members) => {
    const { errors } = await ask(`{ ${field} { pageInfo { hasNextPage } } }`)
    expect(errors?.map(({ extensions }) => extensions)).toMatchObject([{ code, ...members }])
  })

  test('takes a cursor at which nothing lies', async () => {
    const nothing = Buffer.from('block.3.1700000000000000000.-5', 'latin1').toString('base64url')
    const expected = await blocksWhere(({ slot }) => slot >= 3)()
    const [, all] = present(walks[0], 'blocks')
    const found = await pageOf(all, `sort: OLDEST after: "${nothing}" first: 1000`)
    expect(found.edges.map(({ node }) => node.id)).toEqual(expected.reverse())
    expect(found.pageInfo).toMatchObject({ hasPreviousPage: true, hasNextPage: false })
  })
})

describe('edges', () => {
  test('lead from a block to what belongs to it', async () => {
    const n = 14
    const { data, errors } = await ask(
      `{ block(id: "${blockIdOf(n)}") {
        parents { kind blockId block { blockId milestone { index } } } children { nodes { blockId } }
        milestone { index previous { index } next { index } } transaction { transactionId block { blockId } carriers { nodes { blockId } } milestone { index } }
      } }`,
    )
    expect(errors).toBeUndefined()
    const row = present(kept[n], 'block')
    const transactionId = present(row.transactionId, 'a transaction')
    const transaction = present(await store.read.transaction(transactionId), 'transaction')
    const parents = [blockIdOf(11), blockIdOf(13)].sort()
    const carriers = kept.filter((one) => one.transactionId === transactionId).sort(newestFirst)
    const slotOfBlock = (id: BlockId) =>
      present(
        kept.find(({ blockId }) => blockId === id),
        id,
      ).slot
    expect(data.block).toEqual({
      parents: parents.map((blockId) => ({
        kind: 'STRONG',
        blockId,
        block: { blockId, milestone: { index: slotOfBlock(blockId) } },
      })),
      children: {
        nodes: [blockIdOf(15), blockIdOf(17)]
          .sort()
          .reverse()
          .map((blockId) => ({ blockId })),
      },
      milestone: {
        index: row.slot,
        previous: { index: row.slot - 1 },
        next: { index: row.slot + 1 },
      },
      transaction: {
        transactionId,
        block: { blockId: transaction.blockId },
        carriers: { nodes: carriers.map(({ blockId }) => ({ blockId })) },
        milestone: transaction.state === 'FAILED' ? null : { index: transaction.slot },
      },
    })
  })

  test('are null where they lead nowhere', async () => {
    const first = await ask(
      `{ block(id: "${blockIdOf(0)}") { parents { block { blockId } } commitment { index } transaction { state } }
         milestone(index: 0) { previous { index } } newest: milestone { next { index } }
         output(id: "${outputIdOf(0)}") { block { blockId } transaction { state } milestone { index } spentMilestone { index } spendingTransaction { state } } }`,
    )
    expect(first.errors).toBeUndefined()
    expect(first.data).toEqual({
      block: { parents: [{ block: null }], commitment: null, transaction: null },
      milestone: { previous: null },
      newest: { next: null },
      output: {
        block: { blockId: blockIdOf(0) },
        transaction: null,
        milestone: { index: 0 },
        spentMilestone: null,
        spendingTransaction: null,
      },
    })
  })

  test('lead from an output and an update to where they came from', async () => {
    const { data, errors } = await ask(
      `{ output(id: "${outputIdOf(2)}") {
          block { slot } milestone { index } spentMilestone { index } spendingTransaction { transactionId }
      } }`,
    )
    expect(errors).toBeUndefined()
    expect(data.output).toEqual({
      block: { slot: 2 },
      milestone: { index: 2 },
      spentMilestone: { index: 3 },
      spendingTransaction: { transactionId: transactionIdOf(0) },
    })
  })

  test('take as many statements on a large page as on a small one', async () => {
    const document = `query ($n: Int!) {
      blocks(first: $n) { nodes {
        milestone { index previous { index } } commitment { index }
        parents { block { milestone { index } parents { block { blockId } } } }
        children(first: 2) { nodes { blockId children(first: 1) { pageInfo { hasNextPage hasPreviousPage } } } }
        transaction { state block { blockId } carriers(last: 3) { nodes { blockId } } inputs { amount: outputId transaction { state } } outputs { outputId block { slot } } }
      } }
      transactions(first: $n) { nodes { milestone { index blocks(first: 2) { nodes { blockId } } transactions(first: 2) { nodes { state } } } } }
      milestones(first: $n) { nodes { next { index } blocks(first: $n) { nodes { transaction { state } } pageInfo { hasNextPage } } } }
    }`
    const small = await askCounted(document, { n: 15 })
    const large = await askCounted(document, { n: 90 })
    expect(large.answer.data.blocks.nodes).toHaveLength(90)
    // On PostgreSQL it depends on the moments of the answers which levels of two roots meet.
    if (usualDatabase().name === 'sqlite') expect(large.statements).toBe(small.statements)
    expect(Math.max(small.statements, large.statements)).toBeLessThanOrEqual(40)
  })
})
