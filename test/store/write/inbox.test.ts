import { describe, expect, test } from 'vitest'
import { databases, openedStore, useStore } from '../../support/databases.ts'
import { blockIdOf, incomingBlock, transactionIdOf } from '../../support/store-rows.ts'

describe.each(databases)('the inbox on $name', ({ create }) => {
  const use = useStore(create)

  test('stores blocks and their transactions as pending, in the order given', async () => {
    const blocks = [3, 1, 2].map((n) => incomingBlock(n))
    expect(await use.store.write.acceptBlocks(blocks)).toEqual(['ACCEPTED', 'ACCEPTED', 'ACCEPTED'])
    const pending = await use.store.read.blocksAfter({ inbox: 0, limit: 10 })
    expect(pending).toEqual(
      blocks.map((block) => ({ ...block, inbox: expect.any(Number), state: 'PENDING' })),
    )
    expect(await use.store.read.transaction(transactionIdOf(1))).toEqual({
      transactionId: transactionIdOf(1),
      blockId: blockIdOf(1),
      slot: 1,
      state: 'PENDING',
      failureReason: undefined,
    })
  })

  test('stores many blocks at once as it stores one', async () => {
    const blocks = Array.from({ length: 130 }, (_, n) => incomingBlock(n + 1))
    for (const block of blocks.slice(0, 2)) await use.store.write.acceptBlocks([block])
    await use.store.write.acceptBlocks(blocks.slice(2))
    const pending = await use.store.read.blocksAfter({ inbox: 0, limit: 200 })
    expect(pending.map(({ inbox: _, state: __, ...block }) => block)).toEqual(blocks)
  })

  test('returns for booking only what it needs: bytes only for blocks with a transaction', async () => {
    const plain = { ...incomingBlock(2), transactionId: undefined }
    const blocks = [incomingBlock(1), plain]
    await use.store.write.acceptBlocks(blocks)
    const [first, second] = await use.store.write.pendingBlocks(10)
    const { blockId, slot, transactionId, bytes } = incomingBlock(1)
    expect(first).toEqual({ inbox: 1, blockId, slot, transactionId, bytes })
    expect(second).toEqual({
      inbox: 2,
      blockId: plain.blockId,
      slot: plain.slot,
      transactionId: undefined,
      bytes: new Uint8Array(),
    })
    expect(await use.store.write.pendingBlocks(1)).toEqual([first])
  })

  test('assigns rising positions across groups and restarts', async () => {
    await use.store.write.acceptBlocks([incomingBlock(9), incomingBlock(8)])
    const second = await openedStore(use.url)
    await second.write.acceptBlocks([incomingBlock(7)])
    await second.close()
    await use.store.write.acceptBlocks([incomingBlock(6)])
    const pending = await use.store.write.pendingBlocks(10)
    expect(pending.map(({ blockId }) => blockId)).toEqual([9, 8, 7, 6].map(blockIdOf))
    const places = pending.map(({ inbox }) => inbox)
    expect(new Set(places).size).toBe(4)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(await use.store.write.pendingBlocks(2)).toEqual(pending.slice(0, 2))
  })

  test('recognises a known block, from before and from the same group, also in a closed slot', async () => {
    await use.store.write.acceptBlocks([incomingBlock(1)])
    const group = [incomingBlock(1), incomingBlock(2), incomingBlock(2)]
    expect(await use.store.write.acceptBlocks(group)).toEqual(['KNOWN', 'ACCEPTED', 'KNOWN'])
    await use.store.write.closeSlots(use.term, 1)
    expect(await use.store.write.acceptBlocks([incomingBlock(1)])).toEqual(['KNOWN'])
    expect(await use.store.write.pendingBlocks(10)).toHaveLength(2)
  })

  test('stores nothing of a block that comes too late', async () => {
    await use.store.write.closeSlots(use.term, 4)
    const late = incomingBlock(1, { slot: 4 })
    const timely = incomingBlock(2, { slot: 5 })
    expect(await use.store.write.acceptBlocks([late, timely])).toEqual(['SLOT_CLOSED', 'ACCEPTED'])
    expect(await use.store.read.block(late.blockId)).toBeUndefined()
    expect(await use.store.read.transaction(transactionIdOf(1))).toBeUndefined()
  })

  test('never reopens a slot', async () => {
    await use.store.write.closeSlots(use.term, 4)
    await use.store.write.closeSlots(use.term, 2)
    const late = incomingBlock(1, { slot: 4 })
    expect(await use.store.write.acceptBlocks([late])).toEqual(['SLOT_CLOSED'])
  })

  test('assigns a transaction to its first carrier', async () => {
    const second = incomingBlock(2, { transactionId: transactionIdOf(1), slot: 9 })
    await use.store.write.acceptBlocks([incomingBlock(1), second])
    await use.store.write.acceptBlocks([incomingBlock(3, { transactionId: transactionIdOf(1) })])
    expect(await use.store.read.transaction(transactionIdOf(1))).toMatchObject({
      blockId: blockIdOf(1),
      slot: 1,
    })
    expect((await use.store.read.block(second.blockId))?.transactionId).toBe(transactionIdOf(1))
  })

  const extremes = [
    ['no transaction', { transactionId: undefined }],
    ['no bytes', { bytes: new Uint8Array(0) }],
    ['32768 bytes of every value', { bytes: Uint8Array.from({ length: 32_768 }, (_, i) => i) }],
    ['the last slot', { slot: 2 ** 32 - 1 }],
    ['odd nanoseconds', { issuingTime: 1_795_000_000_123_456_789n }],
    ['the last nanosecond that fits', { issuingTime: 2n ** 63n - 1n }],
  ] as const

  test.each(extremes)('returns a block as it was stored: %s', async (_name, changes) => {
    const block = incomingBlock(1, changes)
    await use.store.write.acceptBlocks([block])
    expect(await use.store.read.block(block.blockId)).toEqual({
      ...block,
      inbox: expect.any(Number),
      state: 'PENDING',
    })
  })
})
