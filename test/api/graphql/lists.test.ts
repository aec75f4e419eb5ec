import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { conditionOf } from '../../../src/ledger/output-parts.ts'
import { present } from '../../../src/lib/assert.ts'
import type { Hex } from '../../../src/lib/hex.ts'
import { addressKey, transactionOf } from '../../../src/protocol/ids.ts'
import { Output } from '../../../src/protocol/outputs.ts'
import { decode } from '../../../src/protocol/schema/schema.ts'
import { Timelock } from '../../../src/protocol/unlock-conditions.ts'
import { addressText } from '../../../src/service/addresses/address-text.ts'
import type { OutputRow } from '../../../src/store/rows.ts'
import { addressText as chainText } from '../../support/chain-ids.ts'
import {
  type Kept,
  type ListWorld,
  newestFirst,
  openListWorld,
  parties,
} from '../../support/list-world.ts'
import { blockIdOf, testId, transactionIdOf, wholeLog } from '../../support/store-rows.ts'

/** Lists, read in both directions and compared with a simple model of the same ledger. */

let world: ListWorld

beforeAll(async () => {
  world = await openListWorld()
  for (let n = 0; n < 11; n++) await setRecord(chainOf(n))
})
afterAll(() => world.close())

/** The chains that have a record. */
const recordedChains: string[] = []

/** The human-readable parts have every kind of character that the text of a chain id may have. */
function chainOf(n: number): string {
  return chainText(8, n, { hrp: present(['tst', 'a.b', '~', '!', 'zz'][n % 5], 'a part') })
}

async function setRecord(chainId: string): Promise<void> {
  recordedChains.push(chainId)
  await world.store.write.setChainRecord({
    ...{ chainId, accessNodes: [], isActive: true, setBy: 'test', setAt: 1 },
  })
}

const ask = (source: string) => world.ask(source)

/** A list to read: its field with the place of the arguments, its page in the response, and the expected ids. */
interface Walk {
  readonly list: (args: string) => string
  readonly read: (data: never) => Page
  readonly expected: () => Promise<readonly unknown[]> | readonly unknown[]
  /** The list has one order only. */
  readonly isUnsorted?: boolean
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

/** Lists whose conditions are arguments of the field. */
const withoutFilter = new Set(['ledgerUpdates'])

function walkOf(field: string, node: string, filter: string, expected: Walk['expected']): Walk {
  const conditions = withoutFilter.has(field) || filter === '' ? filter : `filter: { ${filter} }`
  const withFilter = (args: string) => `${conditions} ${args}`
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
  (matches: (block: Kept & { readonly state: string }) => boolean) => async () => {
    const rows = await world.store.read.blocks(world.kept.map(({ blockId }) => blockId))
    const stateOf = new Map(rows.map(({ blockId, state }) => [blockId, state]))
    return world.kept
      .map((block) => ({ ...block, state: present(stateOf.get(block.blockId), 'state') }))
      .filter(matches)
      .sort(newestFirst)
      .map(({ blockId }) => blockId)
  }

const transactionsWhere =
  (matches: (row: { slot: number; state: string }) => boolean) => async () => {
    const ids = world.kept.flatMap(({ transactionId }) => transactionId ?? [])
    const rows = (await world.store.read.transactions(ids)).filter(matches)
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
    'basic blocks without a payload',
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
    'finalized blocks with candidacies, of some milestones',
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
  ['milestones', walkOf('milestones', 'index', '', () => countdown(world.committed(), 0))],
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
    'outputs',
    walkOf(
      'outputs',
      'outputId',
      '',
      outputsWhere(() => true),
    ),
  ],
  [
    'outputs of two kinds, one of which is repeated, of some milestones',
    walkOf(
      'outputs',
      'outputId',
      'kinds: [BASIC, NFT, BASIC] fromMilestone: 2 toMilestone: 6',
      outputsWhere(
        ({ bytes, bookedSlot }) =>
          [0, 4].includes(bytes[0] ?? 9) && bookedSlot >= 2 && bookedSlot <= 6,
      ),
    ),
  ],
  [
    'spent outputs',
    walkOf(
      'outputs',
      'outputId',
      'isSpent: true fromMilestone: 3',
      outputsWhere(({ spentSlot = 0 }) => spentSlot >= 3, 'spentSlot'),
    ),
  ],
  [
    'unspent outputs',
    walkOf(
      'outputs',
      'outputId',
      'isSpent: false',
      outputsWhere(({ spentSlot }) => spentSlot === undefined),
    ),
  ],
  [
    'unspent outputs with a condition, of some milestones',
    walkOf(
      'outputs',
      'outputId',
      'isSpent: false kinds: [BASIC] hasTimelock: false toMilestone: 7',
      outputsWhere(
        ({ spentSlot, bytes, bookedSlot }) =>
          spentSlot === undefined && bytes[0] === 0 && !hasTimelock(bytes) && bookedSlot <= 7,
      ),
    ),
  ],
  [
    'current unspent outputs',
    walkOf(
      'unspentOutputs',
      'outputId',
      '',
      outputsWhere(({ spentSlot }) => spentSlot === undefined),
    ),
  ],
  [
    'current unspent outputs of two kinds as of the newest milestone',
    walkOf(
      'unspentOutputs',
      'outputId',
      'committed: true kinds: [NFT, ACCOUNT] createdAfter: 1',
      outputsWhere(
        ({ spentSlot, bytes, bookedSlot }) =>
          spentSlot === undefined && [1, 4].includes(bytes[0] ?? 9) && bookedSlot > 1,
      ),
    ),
  ],
  [
    'chain records',
    {
      ...walkOf('chainRecords', 'chainId', '', () => recordedChains.toSorted().reverse()),
      isUnsorted: true,
    },
  ],
  ...(['OWNED', 'MENTIONED'] as const).flatMap((updateClass) =>
    parties.map((party): [string, Walk] => [
      `transactions of ${updateClass} updates of ${party.pubKeyHash.slice(0, 6)}`,
      transactionsOf(addressKey(party), updateClass),
    ]),
  ),
  ['updates', walkOf('ledgerUpdates', 'seq', '', () => allUpdates(() => true))],
  [
    'updates of some milestones',
    walkOf('ledgerUpdates', 'seq', 'fromMilestone: 2 toMilestone: 4', () =>
      allUpdates(({ milestoneIndex }) => milestoneIndex >= 2 && milestoneIndex <= 4),
    ),
  ],
  [
    'updates of a milestone',
    nestedWalk('milestone(index: 5)', 'updates', 'seq', () =>
      allUpdates(({ milestoneIndex }) => milestoneIndex === 5),
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
    nestedWalk(`block(id: "${blockIdOf(5)}")`, 'children', 'blockId', () => [
      blockIdOf(8),
      blockIdOf(6),
    ]),
  ],
]

function transactionsOf(address: Hex, updateClass: 'OWNED' | 'MENTIONED'): Walk {
  const root = `address(address: "${addressText('tst', address)}")`
  const expected = async () => {
    const outputs = await world.store.read.outputs(world.outputIds)
    const spenders = new Map(outputs.map(({ outputId, spentBy }) => [outputId, spentBy]))
    const ids = (await world.store.read.updates(wholeLog))
      .filter((row) => row.address === address && row.class === updateClass)
      .reverse()
      .map(({ outputId, isSpent }) => (isSpent ? spenders.get(outputId) : transactionOf(outputId)))
    return [...new Set(ids)]
  }
  const walk = nestedWalk(root, 'transactions', 'transactionId', expected)
  return { ...walk, list: (args) => walk.list(`class: ${updateClass} ${args}`) }
}

function outputsWhere(
  matches: (row: OutputRow) => boolean,
  place: 'bookedSlot' | 'spentSlot' = 'bookedSlot',
) {
  return async () => {
    const rows = (await world.store.read.outputs(world.outputIds)).filter(matches)
    const key = (row: OutputRow) => `${String(row[place]).padStart(4, '0')}${row.outputId}`
    return rows.sort((a, b) => (key(a) < key(b) ? 1 : -1)).map(({ outputId }) => outputId)
  }
}

function hasTimelock(bytes: Uint8Array): boolean {
  const output = decode(Output, bytes)
  if (!output.ok) throw new Error(output.error.code)
  return conditionOf(output.value, Timelock) !== undefined
}

async function allUpdates(matches: (row: { readonly milestoneIndex: number }) => boolean) {
  const rows = (await world.store.read.updates(wholeLog)).filter(matches)
  return rows.map(({ seq }) => String(seq)).reverse()
}

function countdown(from: number, to: number): number[] {
  return Array.from({ length: from - to + 1 }, (_, i) => from - i)
}

describe('a list', () => {
  test.each(walks)('of %s has all elements in both directions', async (_name, walk) => {
    const expected = await walk.expected()
    for (const sort of walk.isUnsorted === true ? ['OLDEST'] : ['NEWEST', 'OLDEST']) {
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

  function sorted({ isUnsorted }: Walk, sort: string): string {
    return isUnsorted === true ? '' : `sort: ${sort}`
  }

  async function walkForward(walk: Walk, sort: string, size: number, between = async () => {}) {
    const found: unknown[] = []
    let after = ''
    for (;;) {
      const { edges, pageInfo } = await pageOf(
        walk,
        `${sorted(walk, sort)} first: ${size} ${after}`,
      )
      expect(pageInfo.hasPreviousPage).toBe(found.length > 0)
      found.push(...edges.map(({ node }) => node.id))
      if (!pageInfo.hasNextPage) return found
      expect(edges).toHaveLength(size)
      after = `after: "${pageInfo.endCursor}"`
      await between()
    }
  }

  async function walkBackward(walk: Walk, sort: string, size: number, between = async () => {}) {
    const found: unknown[] = []
    let before = ''
    for (;;) {
      const { edges, pageInfo } = await pageOf(
        walk,
        `${sorted(walk, sort)} last: ${size} ${before}`,
      )
      expect(pageInfo.hasNextPage).toBe(found.length > 0)
      found.unshift(...edges.map(({ node }) => node.id))
      if (!pageInfo.hasPreviousPage) return found
      expect(edges).toHaveLength(size)
      before = `before: "${pageInfo.startCursor}"`
      await between()
    }
  }

  test('of chain records keeps its elements while records are set', async () => {
    const walk = present(
      walks.find(([one]) => one === 'chain records'),
      'the walk',
    )[1]
    const existing = [...(await walk.expected())].reverse()
    let n = 100
    const setAnother = async () => {
      await setRecord(chainOf(n++))
    }
    const isOld = (id: unknown) => existing.includes(id)
    for (const size of [2, 3]) {
      expect((await walkForward(walk, '', size, setAnother)).filter(isOld)).toEqual(existing)
      expect((await walkBackward(walk, '', size, setAnother)).filter(isOld)).toEqual(existing)
    }
    expect(n).toBeGreaterThan(110)
  })

  test('has 20 elements by default, and applies first before last', async () => {
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
    ['finalized blocks with candidacies, of some milestones'],
    ['transactions'],
    ['milestones'],
    ['updates'],
    ['outputs'],
    ['unspent outputs with a condition, of some milestones'],
    ['current unspent outputs of two kinds as of the newest milestone'],
    [`transactions of OWNED updates of ${parties[0].pubKeyHash.slice(0, 6)}`],
  ])('of %s keeps its order while slots are committed', async (name) => {
    const [, walk] = present(
      walks.find(([one]) => one === name),
      name,
    )
    const before = await walk.expected()
    expect(await walkForward(walk, 'NEWEST', 9, () => world.commitSlot(3))).toEqual(before)
    const oldest = await walkForward(walk, 'OLDEST', 30, () =>
      world.committed() < 40 ? world.commitSlot(3) : Promise.resolve(),
    )
    expect(oldest).toEqual([...(await walk.expected())].reverse())
    const committed = world.committed()
    const size = oldest.length > 20 ? 9 : 2
    const backward = await walkBackward(walk, 'OLDEST', size, () =>
      world.committed() < committed + 5 ? world.commitSlot(3) : Promise.resolve(),
    )
    expect(backward).toEqual(oldest)
    expect(world.committed()).toBeGreaterThan(committed)
  })

  test.each([
    ['blocks(after: "x")', 'CURSOR_MALFORMED', { argument: 'after' }],
    ['blocks(before: "YmxvY2suMS4yLjM=")', 'CURSOR_MALFORMED', { argument: 'before' }],
    ['transactions(after: "YmxvY2suMS4yLjM")', 'CURSOR_MALFORMED', { argument: 'after' }],
    ['milestones(after: "")', 'CURSOR_MALFORMED', { argument: 'after' }],
    [
      'outputs(filter: { isSpent: true, kinds: [NFT] })',
      'FILTER_AMBIGUOUS',
      { members: 'kinds or isSpent: true' },
    ],
    [
      'outputs(filter: { tag: "0x00", hasTimelock: true })',
      'FILTER_NEEDS_UNSPENT',
      { members: 'hasTimelock, tag' },
    ],
    ['outputs(filter: { isSpent: true, tag: "0x00" })', 'FILTER_NEEDS_UNSPENT', { members: 'tag' }],
    ['outputs(filter: { addresses: [], tag: "0x00" })', 'FILTER_NEEDS_UNSPENT', { members: 'tag' }],
    ['outputs(after: "MQ")', 'CURSOR_MALFORMED', { argument: 'after' }],
    ['addresses(before: "MQ")', 'CURSOR_MALFORMED', { argument: 'before' }],
    ['addresses(last: 2000)', 'PAGE_SIZE_OUT_OF_RANGE', { argument: 'last', value: 2000 }],
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

  test('an empty list of addresses is no condition on outputs', async () => {
    const { data, errors } = await ask(`{
      all: outputs { nodes { outputId } } filtered: outputs(filter: { addresses: [] }) { nodes { outputId } } }`)
    expect(errors).toBeUndefined()
    expect(data.all.nodes.length).toBeGreaterThan(0)
    expect(data.filtered).toEqual(data.all)
  })

  test('says of a cursor of another list and of a condition what is wrong', async () => {
    const { data } = await ask('{ blocks(first: 1) { pageInfo { endCursor } } }')
    const { errors } = await ask(
      `{ transactions(after: "${data.blocks.pageInfo.endCursor}") { nodes { slot } }
        outputs(filter: { tag: "0x00" }) { nodes { outputId } } }`,
    )
    // The fields are resolved at the same time, so either error may be the first.
    expect(Object.fromEntries((errors ?? []).map((e) => [e.path?.[0], e.message]))).toEqual({
      transactions: 'after: not a cursor from a response to the same kind of request',
      outputs: 'filter: only unspent outputs can be filtered by tag; set isSpent: false',
    })
  })

  test('accepts a cursor without an element', async () => {
    const unusedCursor = Buffer.from('block.3.1700000000000000000.-5', 'latin1').toString(
      'base64url',
    )
    const expected = await blocksWhere(({ slot }) => slot >= 3)()
    const [, all] = present(walks[0], 'blocks')
    const found = await pageOf(all, `sort: OLDEST after: "${unusedCursor}" first: 1000`)
    expect(found.edges.map(({ node }) => node.id)).toEqual(expected.reverse())
    expect(found.pageInfo).toMatchObject({ hasPreviousPage: true, hasNextPage: false })
  })
})
