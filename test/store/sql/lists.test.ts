import { beforeEach, describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { Output } from '../../../src/protocol/outputs.ts'
import type { BlockId, TransactionId } from '../../../src/protocol/primitives.ts'
import { encode } from '../../../src/protocol/schema/schema.ts'
import type {
  Between,
  BlockConditions,
  PageOrder,
  Position,
} from '../../../src/store/contract/list.ts'
import type { Store } from '../../../src/store/contract.ts'
import type { BlockKind, BlockRow, OutputRow, TransactionRow } from '../../../src/store/rows.ts'
import { databases, onDatabase, useStore } from '../../support/databases.ts'
import { unwrap } from '../../support/log-store.ts'
import { createRandom, type Random } from '../../support/random.ts'
import { randomOutput } from '../../support/random-outputs.ts'
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

/** Compares pages of lists with a naive model of the same rows. */

const kinds: readonly BlockKind[] = ['basic', 'validation', 'candidacy', 'tagged', 'transaction']
const states = ['PENDING', 'ACCEPTED', 'FINALIZED', 'DROPPED'] as const
const slots = 12
const firstTime = 1_700_000_000_000_000_000n
const issuerOf = (n: number) => testId('AccountId', 32, n)

describe.each(databases)('lists on $name', ({ create }) => {
  const use = useStore(create)
  let random: Random
  let ledger: Rows

  beforeEach(async () => {
    random = createRandom(7)
    await use.store.write.initialize(use.term, testGenesis({ commit: slotCommit(0) }))
    ledger = await fill(use.store, use.term, random)
  })

  const places = {
    block: () => [
      random.between(0, slots + 1),
      firstTime + BigInt(random.between(-1, 40)),
      random.between(-1, 90),
    ],
    ofId: () =>
      [
        random.between(0, slots + 1),
        `0x${random.between(0, 255).toString(16).padStart(2, '0')}`,
      ] as Position,
    ofInbox: () => [random.between(-1, 90)],
  }
  const between = (place: () => Position): Between =>
    random.between(0, 3) === 0
      ? { above: place(), below: place() }
      : { above: [-1, ...place().slice(1)], below: [Number.MAX_SAFE_INTEGER, ...place().slice(1)] }
  const paging = (): PageOrder => ({
    order: random.between(0, 1) === 0 ? 'ascending' : 'descending',
    limit: random.between(1, 30),
  })
  const many = <T>(one: () => T): T[] => Array.from({ length: random.between(1, 4) }, one)

  test('of blocks equal a scan of all rows', async () => {
    let found = 0
    for (let i = 0; i < 150; i++) {
      const requests = many(() => ({ ...between(places.block), where: conditions(random) }))
      const page = paging()
      const pages = await use.store.read.blockPages(requests, page)
      const expected = requests.map(({ where, ...bounds }) =>
        scannedPage(
          ledger.blocks,
          matches(where),
          ({ slot, issuingTime, inbox }) => [slot, issuingTime, inbox],
          bounds,
          page,
        ),
      )
      expect(pages.map(idsOf)).toEqual(expected.map(idsOf))
      found += pages.flat().length
    }
    expect(found).toBeGreaterThan(500)
  })

  test('of children contain the blocks that refer to the parent', async () => {
    let found = 0
    for (let i = 0; i < 50; i++) {
      const requests = many(() => ({
        ...between(places.ofInbox),
        parent: blockIdOf(random.between(0, 5)),
      }))
      const page = paging()
      const pages = await use.store.read.childPages(requests, page)
      const expected = requests.map(({ parent, ...bounds }) => {
        const refers = ({ blockId }: BlockRow) =>
          ledger.parents.get(blockId)?.includes(parent) === true
        return scannedPage(ledger.blocks, refers, ({ inbox }) => [inbox], bounds, page)
      })
      expect(pages.map(idsOf)).toEqual(expected.map(idsOf))
      found += pages.flat().length
    }
    expect(found).toBeGreaterThan(200)
  })

  test('of transactions equal a scan of all rows', async () => {
    for (let i = 0; i < 100; i++) {
      const requests = many(() => ({
        ...between(places.ofId),
        state: pick(random, [undefined, 'PENDING', 'ACCEPTED', 'FINALIZED', 'FAILED'] as const),
      }))
      const page = paging()
      const pages = await use.store.read.transactionPages(requests, page)
      const expected = requests.map(({ state, ...bounds }) =>
        scannedPage(
          ledger.transactions,
          (one) => state === undefined || one.state === state,
          ({ slot, transactionId }) => [slot, transactionId],
          bounds,
          page,
        ),
      )
      expect(pages).toEqual(expected)
    }
  })

  test('of outputs equal a scan of all rows, by booking and by spending', async () => {
    for (let i = 0; i < 100; i++) {
      const requests = many(() => ({
        ...between(places.ofId),
        where: pick(random, [
          {},
          { kinds: [0] },
          { kinds: [0, 3] },
          { kinds: [5] },
          'SPENT',
        ] as const),
      }))
      const page = paging()
      const pages = await use.store.read.outputPages(requests, page)
      const expected = requests.map(({ where, ...bounds }) =>
        where === 'SPENT'
          ? scannedPage(
              ledger.outputs,
              ({ spentSlot }) => spentSlot !== undefined,
              ({ spentSlot = 0, outputId }) => [spentSlot, outputId],
              bounds,
              page,
            )
          : scannedPage(
              ledger.outputs,
              ({ bytes }) =>
                !('kinds' in where) || (where.kinds as readonly number[]).includes(bytes[0] ?? 0),
              ({ bookedSlot, outputId }) => [bookedSlot, outputId],
              bounds,
              page,
            ),
      )
      expect(pages).toEqual(expected)
    }
  })

  test('of keys contain the existing rows', async () => {
    const { read } = use.store
    const blockIds = [blockIdOf(1), blockIdOf(999), blockIdOf(1), blockIdOf(2)]
    expect(idsOf(await read.blocks(blockIds)).sort()).toEqual([blockIdOf(1), blockIdOf(2)].sort())
    const [one] = ledger.transactions
    const ids = [present(one, 'transaction').transactionId, transactionIdOf(999)]
    expect(await read.transactions(ids)).toEqual([one])
    expect((await read.milestonesAt([0, 3, 99])).map(({ slot }) => slot).sort()).toEqual([0, 3])
    const commitment = slotCommit(3).commitmentId
    expect(await read.milestonesByCommitments([commitment])).toEqual([await read.milestone(3)])
    expect((await read.updatesAt([2, 1, 99])).map(({ seq }) => seq).sort()).toEqual([1, 2])
    expect(await read.updatesAt([])).toEqual([])
  })

  test('of slots have their counts', async () => {
    const someSlots = [1, 3, 6]
    const count = (rows: readonly { slot: number; state: string }[], slot: number) =>
      rows.filter((row) => row.slot === slot && row.state === 'FINALIZED').length
    const counts = async () =>
      (await use.store.read.slotCounts(someSlots)).sort((a, b) => a.slot - b.slot)
    const { spans } = await use.store.read.activity('SLOT', 0, 99)
    const counted = new Map(spans.map((span) => [Number(span.bucket), span]))
    expect(spans.some(({ failed }) => failed !== undefined && failed > 0)).toBe(true)
    const blocksOf = (slot: number) => ({ slot, blocks: count(ledger.blocks, slot) })
    expect(await counts()).toEqual(
      someSlots.map((slot) => {
        const { accepted, failed } = present(counted.get(slot), 'the slot')
        return { ...blocksOf(slot), transactions: accepted, failed }
      }),
    )
    // Deletes the activity, as if nothing had been counted yet.
    await onDatabase(use.url, 'DELETE FROM activity')
    expect(await counts()).toEqual(
      someSlots.map((slot) => ({
        ...blocksOf(slot),
        transactions: count(ledger.transactions, slot),
      })),
    )
    expect(await use.store.read.slotCounts([])).toEqual([])
  })

  test('of addresses are sorted by what they own, each with its balance', async () => {
    const { read } = use.store
    const { owners } = await read.richestAddresses(100)
    expect(owners.length).toBeGreaterThan(4)
    const all = { above: [-1n, '0x'], below: [2n ** 62n, '0x'] } as const
    const top = { order: 'descending', limit: 100 } as const
    expect(await read.addressPages([all], top)).toEqual([owners])
    const { address, total } = present(owners[1], 'the second')
    const behind = { ...all, below: [total, address] } as const
    expect(await read.addressPages([behind], { ...top, limit: 2 })).toEqual([owners.slice(2, 4)])
    const { balances } = await read.balances([address, `0x00${'11'.repeat(32)}`])
    expect([...balances.keys()]).toEqual([address])
    expect(balances.get(address)).toEqual((await read.balance(address)).balance)
  })
})

interface Rows {
  readonly blocks: readonly BlockRow[]
  readonly parents: ReadonlyMap<string, readonly string[]>
  readonly transactions: readonly TransactionRow[]
  readonly outputs: readonly OutputRow[]
}

/**
 * Fills a ledger with blocks of every kind, state and issuer, some with the same issuing time, and transactions and outputs of every state.
 */
async function fill(store: Store, term: number, random: Random): Promise<Rows> {
  const { read, write } = store
  const incoming = Array.from({ length: 80 }, (_, n) => {
    const kind = pick(random, kinds)
    return incomingBlock(n, {
      kind,
      slot: random.between(1, slots),
      issuerId: issuerOf(random.between(0, 3)),
      issuingTime: firstTime + BigInt(random.between(0, 40)),
      // Several blocks carry the same transaction.
      transactionId: kind === 'transaction' ? transactionIdOf(n % 10) : undefined,
      parents: [blockIdOf(random.between(0, 5)), blockIdOf(random.between(6, 90))],
    })
  })
  await write.acceptBlocks(incoming)
  const created = Array.from({ length: 60 }, (_, n) => {
    const bookedSlot = random.between(1, slots)
    return createdOutput(n + 1, { bookedSlot, bytes: encode(Output, randomOutput(random, 6, 4)) })
  })
  const carriers = [...new Map(incoming.map((block) => [block.transactionId, block]))]
  const transactions = carriers.flatMap(([transactionId, { blockId }], i) =>
    transactionId === undefined || i > 7 ? [] : [bookedTransaction(transactionId, blockId, i)],
  )
  const judged = incoming.filter(({ slot }) => slot <= slots / 2 || random.between(0, 1) === 0)
  unwrap(
    await write.book(term, {
      blocks: judged.map(({ blockId }) => ({
        blockId,
        state: random.between(0, 3) === 0 ? 'DROPPED' : 'ACCEPTED',
      })),
      transactions,
      created,
      spent: created.flatMap(({ outputId, bookedSlot }) =>
        random.between(0, 1) === 0
          ? []
          : [
              {
                outputId,
                spentSlot: random.between(bookedSlot, slots),
                spentBy: transactionIdOf(1),
              },
            ],
      ),
    }),
  )
  const half = Array.from({ length: slots / 2 }, (_, i) => slotCommit(i + 1, [entry(1, i + 1)]))
  unwrap(await write.closeSlots(term, slots / 2))
  unwrap(await write.commitSlots(term, half))
  return {
    blocks: await read.blocks(incoming.map(({ blockId }) => blockId)),
    parents: new Map(incoming.map(({ blockId, parents = [] }) => [blockId, parents])),
    transactions: await read.transactions(carriers.flatMap(([id]) => id ?? [])),
    outputs: await read.outputs([outputIdOf(0), ...created.map(({ outputId }) => outputId)]),
  }
}

function bookedTransaction(transactionId: TransactionId, blockId: BlockId, i: number) {
  const isFailed = i % 3 === 0
  return {
    ...{ transactionId, blockId, slot: 2 + i, allotments: [] },
    state: isFailed ? ('FAILED' as const) : ('ACCEPTED' as const),
    failureReason: isFailed ? 1 : undefined,
  }
}

function conditions(random: Random): BlockConditions {
  const some = <T>(list: readonly T[]) =>
    random.shuffled(list).slice(0, random.between(1, list.length))
  const ofKinds = random.between(0, 1) === 0 ? {} : { kinds: some(kinds) }
  return pick<() => BlockConditions>(random, [
    () => ({}),
    () => ({ transactionId: transactionIdOf(random.between(0, 10)) }),
    () => ({ issuerId: issuerOf(random.between(0, 4)), ...ofKinds }),
    () => ({ states: some(states), ...ofKinds }),
    () => ofKinds,
  ])()
}

function matches({ transactionId, issuerId, states, kinds }: BlockConditions) {
  return (row: BlockRow) =>
    (transactionId === undefined || row.transactionId === transactionId) &&
    (issuerId === undefined || row.issuerId === issuerId) &&
    (states === undefined || states.includes(row.state)) &&
    (kinds === undefined || kinds.includes(row.kind))
}

/** Computes a page by a scan of every row. */
function scannedPage<Row>(
  rows: readonly Row[],
  matches: (row: Row) => boolean,
  placeOf: (row: Row) => Position,
  { above, below }: Between,
  { order, limit }: PageOrder,
): Row[] {
  const found = rows
    .filter(
      (row) => matches(row) && compare(placeOf(row), above) > 0 && compare(placeOf(row), below) < 0,
    )
    .sort((a, b) => compare(placeOf(a), placeOf(b)))
  return (order === 'ascending' ? found : found.reverse()).slice(0, limit)
}

function compare(a: Position, b: Position): number {
  const at = a.findIndex((value, i) => value !== b[i])
  if (at === -1) return 0
  return present(a[at], 'value') < present(b[at], 'value') ? -1 : 1
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.between(0, list.length - 1)] as T
}

function idsOf(rows: readonly { readonly blockId?: unknown }[]) {
  return rows.map(({ blockId }) => blockId)
}
