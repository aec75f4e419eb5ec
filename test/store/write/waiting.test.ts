import { beforeEach, describe, expect, test } from 'vitest'
import type { TransactionId } from '../../../src/protocol/primitives.ts'
import type { WaitingCarrier, WaitingChanges } from '../../../src/store/contract/waiting.ts'
import { databases, openedStore, useStore } from '../../support/databases.ts'
import {
  blockIdOf,
  bookedTransaction,
  booking,
  incomingBlock,
  testGenesis,
  transactionIdOf,
} from '../../support/store-rows.ts'

const accepted = (n: number) => ({ blockId: blockIdOf(n), state: 'ACCEPTED' }) as const

describe.each(databases)('waiting transactions on $name', ({ create }) => {
  const use = useStore(create)
  /** Inbox positions by block number. */
  let placeOf: ReadonlyMap<number, number>

  beforeEach(async () => {
    await use.store.write.initialize(use.term, testGenesis())
    const numbers = [1, 2, 3, 4]
    await use.store.write.acceptBlocks(numbers.map((n) => incomingBlock(n, { slot: n })))
    const pending = await use.store.write.pendingBlocks(10)
    placeOf = new Map(numbers.map((n, i) => [n, pending[i]?.inbox ?? 0]))
    await use.store.write.book(use.term, booking({ blocks: numbers.map(accepted) }))
  })

  const place = (n: number) => placeOf.get(n) ?? 0
  const waiter = (n: number, awaits: readonly number[]): WaitingCarrier => ({
    inbox: place(n),
    slot: n,
    awaits: awaits.map(transactionIdOf),
  })
  const change = (changes: Partial<WaitingChanges>) =>
    use.store.write.book(
      use.term,
      booking({ waiting: { booked: [], over: [], begun: [], ...changes } }),
    )
  const released = async () =>
    (await use.store.write.releasedCarriers(10)).map(({ blockId }) => blockId)
  const awaiting = async (...numbers: readonly number[]) =>
    (await use.store.write.carriersAwaiting(numbers.map(transactionIdOf))).map(
      ({ block, awaits, missing }) => ({
        blockId: block.blockId,
        awaits: awaits.toSorted(),
        missing,
      }),
    )
  const sorted = (...ids: readonly TransactionId[]) => ids.toSorted()

  test('are released in inbox order when the last transaction that they wait for is booked', async () => {
    await change({ begun: [waiter(3, [8]), waiter(1, [8, 9]), waiter(2, [9])] })
    expect(await use.store.write.countWaiting()).toBe(3)
    expect(await released()).toEqual([])
    const counts = await use.store.write.awaitedCounts([7, 8, 9].map(transactionIdOf))
    expect(counts).toEqual(
      new Map([
        [transactionIdOf(8), 2],
        [transactionIdOf(9), 2],
      ]),
    )
    await change({ booked: [transactionIdOf(8)] })
    expect(await released()).toEqual([blockIdOf(3)])
    await change({ booked: [transactionIdOf(9)] })
    expect(await released()).toEqual([1, 2, 3].map(blockIdOf))
    expect((await use.store.write.releasedCarriers(2)).map(({ inbox }) => inbox)).toEqual([
      place(1),
      place(2),
    ])
  })

  test('are found by the transactions that they wait for, each once', async () => {
    await change({ begun: [waiter(1, [8, 9]), waiter(2, [9])] })
    expect(await awaiting(7)).toEqual([])
    expect(await awaiting(8, 9)).toEqual([
      { blockId: blockIdOf(1), awaits: sorted(transactionIdOf(8), transactionIdOf(9)), missing: 2 },
      { blockId: blockIdOf(2), awaits: [transactionIdOf(9)], missing: 1 },
    ])
    await change({ booked: [transactionIdOf(8)] })
    expect(await awaiting(8, 9)).toEqual([
      { blockId: blockIdOf(1), awaits: [transactionIdOf(9)], missing: 1 },
      { blockId: blockIdOf(2), awaits: [transactionIdOf(9)], missing: 1 },
    ])
  })

  test('are dropped by slot, and leave no rows', async () => {
    await change({ begun: [waiter(2, [8]), waiter(1, [8, 9]), waiter(3, [9])] })
    const overdue = await use.store.write.waitingCarriers(2, 10)
    expect(overdue).toEqual(
      [1, 2].map((n) => ({
        inbox: place(n),
        blockId: blockIdOf(n),
        slot: n,
        transactionId: transactionIdOf(n),
      })),
    )
    expect(await use.store.write.waitingCarriers(9, 1)).toEqual(overdue.slice(0, 1))
    await change({ over: overdue.map(({ inbox }) => inbox) })
    expect(await use.store.write.countWaiting()).toBe(1)
    expect(await awaiting(8, 9)).toEqual([
      { blockId: blockIdOf(3), awaits: [transactionIdOf(9)], missing: 1 },
    ])
  })

  test('may wait for other transactions, or for none, in the booking that ends the wait', async () => {
    await change({ begun: [waiter(1, [8])] })
    await change({ booked: [transactionIdOf(8)], over: [place(1)], begun: [waiter(1, [9])] })
    expect(await released()).toEqual([])
    await change({ begun: [waiter(2, [])] })
    expect(await released()).toEqual([blockIdOf(2)])
    expect(await use.store.write.countWaiting()).toBe(2)
  })
})

describe.each(databases)('a transaction that several blocks carry on $name', ({ create }) => {
  const use = useStore(create)
  /** Returns a block with transaction 1. */
  const carrier = (n: number, slot = 1) =>
    incomingBlock(n, { transactionId: transactionIdOf(1), slot })
  const row = () => use.store.read.transaction(transactionIdOf(1))
  const fail = (n: number, failureReason: number, judgedCarriers = 1) =>
    use.store.write.book(
      use.term,
      booking({
        transactions: [
          bookedTransaction(1, {
            ...{ blockId: blockIdOf(n), state: 'FAILED', failureReason, judgedCarriers },
          }),
        ],
      }),
    )

  beforeEach(() => use.store.write.initialize(use.term, testGenesis()))

  const reasons = [2, 5, 6, 7, 8, 24, 25]
  test.each(reasons)(
    'that failed with reason %i is pending again after a new carrier',
    async (reason) => {
      await use.store.write.acceptBlocks([carrier(1)])
      await fail(1, reason)
      expect(await row()).toMatchObject({ state: 'FAILED', failureReason: reason })
      await use.store.write.acceptBlocks([carrier(2, 3), carrier(3, 4)])
      const again = { state: 'PENDING', failureReason: undefined, blockId: blockIdOf(2), slot: 3 }
      expect(await row()).toMatchObject(again)
      const verdict = bookedTransaction(1, { blockId: blockIdOf(3), slot: 4 })
      await use.store.write.book(use.term, booking({ transactions: [verdict] }))
      expect(await row()).toMatchObject({ state: 'ACCEPTED', blockId: blockIdOf(3), slot: 4 })
      await use.store.write.acceptBlocks([carrier(4)])
      expect(await row()).toMatchObject({ state: 'ACCEPTED', blockId: blockIdOf(3) })
    },
  )

  test.each([1, 3, 9, 14, 255])('that failed with reason %i stays failed', async (reason) => {
    await use.store.write.acceptBlocks([carrier(1)])
    await fail(1, reason)
    await use.store.write.acceptBlocks([carrier(2)])
    expect(await row()).toMatchObject({ state: 'FAILED', failureReason: reason })
    const again = bookedTransaction(1)
    await expect(
      use.store.write.book(use.term, booking({ transactions: [again] })),
    ).rejects.toThrow('was pending')
  })

  test('fails only when all of its carriers are judged', async () => {
    await use.store.write.acceptBlocks([carrier(1), carrier(2)])
    await use.store.write.acceptBlocks([carrier(3)])
    await fail(2, 5, 2)
    expect(await row()).toMatchObject({ state: 'PENDING', failureReason: undefined })
    await fail(3, 7)
    const failed = { state: 'FAILED', failureReason: 7, blockId: blockIdOf(3) }
    expect(await row()).toMatchObject(failed)
    await use.store.write.acceptBlocks([carrier(4)])
    await fail(4, 14)
    expect(await row()).toMatchObject({ state: 'FAILED', failureReason: 14 })
  })

  // On PostgreSQL the two may lock the same rows at the same time; on SQLite they take turns. There are many rounds, because a deadlock
  // occurs only when the two meet in the middle.
  test('is booked and carried at the same time without a deadlock', async () => {
    const other = await openedStore(use.url)
    const many = Array.from({ length: 400 }, (_, n) => n)
    const carriers = (from: number) =>
      many.map((n) => incomingBlock(from + n, { transactionId: transactionIdOf(n) }))
    await use.store.write.acceptBlocks(carriers(0))
    for (let round = 1; round <= 30; round++) {
      const transactions = many.map((n) =>
        bookedTransaction(n, { state: 'FAILED', failureReason: 5 }),
      )
      await Promise.all([
        use.store.write.book(use.term, booking({ transactions })),
        other.write.acceptBlocks(carriers(round * 1_000).reverse()),
      ])
    }
    // It is chance which of the two came last in the last round; a carrier after the failure makes the transaction pending.
    await other.write.acceptBlocks(carriers(1_000_000))
    expect((await row())?.state).toBe('PENDING')
    await other.close()
  }, 120_000)
})
