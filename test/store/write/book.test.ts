import { beforeEach, describe, expect, test } from 'vitest'
import type { BookedTransaction, Booking } from '../../../src/store/contract.ts'
import type { TransactionRow } from '../../../src/store/rows.ts'
import { databases, useStore } from '../../support/databases.ts'
import { contentsOf } from '../../support/log-store.ts'
import {
  blockIdOf,
  bookedTransaction,
  booking,
  createdOutput,
  incomingBlock,
  outputIdOf,
  slotCommit,
  testGenesis,
  transactionIdOf,
} from '../../support/store-rows.ts'

const accepted = (n: number) => ({ blockId: blockIdOf(n), state: 'ACCEPTED' }) as const
const spentBy = (output: number, transaction: number) => ({
  outputId: outputIdOf(output),
  spentSlot: 1,
  spentBy: transactionIdOf(transaction),
})

describe.each(databases)('booking on $name', ({ create }) => {
  const use = useStore(create)

  beforeEach(async () => {
    await use.store.write.initialize(use.term, testGenesis())
    await use.store.write.acceptBlocks([1, 2, 3].map((n) => incomingBlock(n)))
  })

  test('writes verdicts and effects together', async () => {
    await use.store.write.book(
      use.term,
      booking({
        blocks: [accepted(1), accepted(2), { blockId: blockIdOf(3), state: 'DROPPED' }],
        transactions: [
          bookedTransaction(1),
          bookedTransaction(2, { state: 'FAILED', failureReason: 255 }),
        ],
        created: [createdOutput(1), createdOutput(2)],
        spent: [spentBy(0, 1), spentBy(1, 2)],
      }),
    )
    const { read } = use.store
    expect(await use.store.write.pendingBlocks(10)).toEqual([])
    const blocks = await Promise.all([1, 2, 3].map((n) => read.block(blockIdOf(n))))
    expect(blocks.map((block) => block?.state)).toEqual(['ACCEPTED', 'ACCEPTED', 'DROPPED'])
    expect(await read.transaction(transactionIdOf(1))).toMatchObject({ state: 'ACCEPTED' })
    expect(await read.transaction(transactionIdOf(2))).toMatchObject({
      state: 'FAILED',
      failureReason: 255,
    })
    expect(await read.output(outputIdOf(0))).toMatchObject({
      bookedSlot: 0,
      spentSlot: 1,
      spentBy: transactionIdOf(1),
    })
    expect(await read.output(outputIdOf(1))).toMatchObject({ spentBy: transactionIdOf(2) })
    expect(await read.output(outputIdOf(2))).toEqual({
      ...createdOutput(2),
      spentSlot: undefined,
      spentBy: undefined,
    })
  })

  test('assigns a transaction to the block that it was judged by', async () => {
    const judged = bookedTransaction(1, { blockId: blockIdOf(3), slot: 2 })
    await use.store.write.book(use.term, booking({ transactions: [judged] }))
    expect(await use.store.read.transaction(transactionIdOf(1))).toEqual(rowOf(judged))
  })

  const sound = booking({
    blocks: [accepted(1)],
    transactions: [bookedTransaction(1)],
    created: [createdOutput(1)],
    spent: [spentBy(0, 1)],
  })
  const unsound: readonly (readonly [string, Partial<Booking>])[] = [
    ['an output that does not exist is spent', { spent: [spentBy(7, 1)] }],
    ['an output is spent twice', { created: [], spent: [spentBy(0, 1), spentBy(0, 2)] }],
    ['an output is created twice', { created: [createdOutput(1), createdOutput(1)] }],
    ['an output is created again', { created: [createdOutput(0)] }],
    ['a block does not exist', { blocks: [accepted(7)] }],
    ['a transaction does not exist', { transactions: [bookedTransaction(7)] }],
  ]

  test.each(unsound)('throws and changes nothing when %s', async (_name, changes) => {
    await expect(use.store.write.book(use.term, { ...sound, ...changes })).rejects.toThrow()
    const { read } = use.store
    expect(await use.store.write.pendingBlocks(10)).toHaveLength(3)
    expect((await read.transaction(transactionIdOf(1)))?.state).toBe('PENDING')
    expect(await read.output(outputIdOf(1))).toBeUndefined()
    expect((await read.output(outputIdOf(0)))?.spentSlot).toBeUndefined()
  })

  test('throws when a booking is repeated, and changes nothing', async () => {
    await use.store.write.book(use.term, sound)
    await expect(use.store.write.book(use.term, sound)).rejects.toThrow('was pending')
    expect((await use.store.read.output(outputIdOf(0)))?.spentBy).toBe(transactionIdOf(1))
  })

  test('rejects a later spender', async () => {
    await use.store.write.book(use.term, sound)
    const later = booking({ blocks: [accepted(2)], spent: [spentBy(0, 2)] })
    await expect(use.store.write.book(use.term, later)).rejects.toThrow('was unspent')
    expect((await use.store.read.block(blockIdOf(2)))?.state).toBe('PENDING')
  })

  test('reads the existing ones among many inputs at once', async () => {
    await use.store.write.book(use.term, sound)
    const ids = Array.from({ length: 2_000 }, (_, n) => outputIdOf(n))
    const found = await use.store.write.outputsForBooking(ids)
    const spent = { spentSlot: 1, spentBy: transactionIdOf(1) }
    const unspent = { spentSlot: undefined, spentBy: undefined }
    expect(found).toHaveLength(2)
    expect(found).toContainEqual({ ...createdOutput(0, { bookedSlot: 0 }), ...spent })
    expect(found).toContainEqual({ ...createdOutput(1), ...unspent })
    expect(await use.store.read.outputs(ids)).toHaveLength(2)
    const transactions = await use.store.write.transactionsForBooking([1, 7].map(transactionIdOf))
    expect(transactions).toEqual([rowOf(bookedTransaction(1))])
  })

  test('returns the contents of slots, before and after they are final', async () => {
    const failed = bookedTransaction(2, { state: 'FAILED', failureReason: 1 })
    const allotments = [{ accountId: incomingBlock(0).issuerId, mana: 2n ** 64n - 1n }]
    const dropped = { blockId: blockIdOf(3), state: 'DROPPED' } as const
    await use.store.write.book(use.term, {
      ...sound,
      blocks: [accepted(1), accepted(2), dropped],
      transactions: [bookedTransaction(1, { allotments }), failed],
    })
    const contents = await contentsOf(use.store, 1, 1)
    const created = { ...createdOutput(1), spentSlot: undefined, spentBy: undefined }
    expect(contents.blocks).toHaveLength(2)
    const { blockId, issuerId, workScore } = incomingBlock(1)
    const block = { slot: 1, blockId, issuerId, workScore, validation: undefined }
    expect(contents.blocks).toContainEqual(block)
    expect(contents.transactions).toEqual([
      { slot: 1, transactionId: transactionIdOf(1), allotments },
    ])
    expect(contents.created).toEqual([created])
    expect(contents.spent.map(({ outputId }) => outputId)).toEqual([outputIdOf(0)])
    await use.store.write.closeSlots(use.term, 1)
    await use.store.write.commitSlots(use.term, [slotCommit(1)])
    expect(await contentsOf(use.store, 1, 1)).toEqual(contents)
    const nothing = { blocks: [], transactions: [], created: [], spent: [] }
    expect(await contentsOf(use.store, 2, 9)).toEqual(nothing)
  })
})

/** Returns the row of a judged transaction as a read returns it, without its allotments, which are read by slot. */
function rowOf({ allotments: _, ...row }: BookedTransaction): TransactionRow {
  return row
}
