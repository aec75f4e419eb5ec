import { Pool } from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import type { FollowedSlot } from '../../../src/store/contract.ts'
import { databases, openedStore, useStore } from '../../support/databases.ts'
import { sessionsAwaitingLocks } from '../../support/postgresql-server.ts'
import {
  addressOf,
  blockIdOf,
  createdOutput,
  entry,
  incomingBlock,
  outputIdOf,
  slotCommit,
  testGenesis,
  transactionIdOf,
} from '../../support/store-rows.ts'
import { until } from '../../support/until.ts'

/** A slot in which the first output is spent and another one is created. */
function followed(changes: Partial<FollowedSlot> = {}): FollowedSlot {
  const entries = [entry(0, 0, { isSpent: true }), entry(1, 1)]
  return {
    commit: slotCommit(1, entries),
    created: [createdOutput(1)],
    spent: [{ outputId: outputIdOf(0), spentSlot: 1, spentBy: transactionIdOf(1) }],
    ...changes,
  }
}

describe.each(databases)('slots that a node committed on $name', ({ create }) => {
  const use = useStore(create)
  const follow = (...slots: FollowedSlot[]) => use.store.write.followSlots(use.term, slots)

  beforeEach(async () => {
    await use.store.write.initialize(use.term, testGenesis())
  })

  test('are booked, closed and committed at once', async () => {
    const empty = { commit: slotCommit(2), created: [], spent: [] }
    const tip = await follow(followed(), empty)
    expect(tip).toMatchObject({ ok: true, value: { seq: 3, slot: 2 } })
    const { read } = use.store
    const spent = { spentSlot: 1, spentBy: transactionIdOf(1) }
    expect(await read.output(outputIdOf(0))).toMatchObject(spent)
    expect((await read.balance(addressOf(1))).balance.outputs).toBe(1)
    expect((await read.balance(addressOf(0))).balance.outputs).toBe(0)
    // No block can be accepted into a slot that is over.
    expect(await use.store.write.acceptBlocks([incomingBlock(5, { slot: 2 })])).toEqual([
      'SLOT_CLOSED',
    ])
  })

  test('may contain outputs without their block and their spending transaction', async () => {
    const created = [createdOutput(1, { blockId: undefined })]
    const spent = [{ outputId: outputIdOf(0), spentSlot: 1, spentBy: undefined }]
    await follow(followed({ created, spent }))
    const { read } = use.store
    expect((await read.output(outputIdOf(1)))?.blockId).toBeUndefined()
    const row = await read.output(outputIdOf(0))
    expect([row?.spentSlot, row?.spentBy]).toEqual([1, undefined])
  })

  const unfit: readonly (readonly [string, Partial<FollowedSlot>])[] = [
    ['a slot that does not come next', { commit: slotCommit(2) }],
    ['an output that exists already', { created: [createdOutput(0)] }],
    [
      'an output that does not exist',
      { spent: [{ outputId: outputIdOf(9), spentSlot: 1, spentBy: undefined }] },
    ],
  ]
  test.each(unfit)('change nothing if they contain %s', async (_name, changes) => {
    await expect(follow(followed(changes))).rejects.toThrow()
    expect(await use.store.read.logTip()).toMatchObject({ seq: 1, slot: 0 })
    expect((await use.store.read.output(outputIdOf(0)))?.spentSlot).toBeUndefined()
  })

  test('are not written by a holder that has lost the lease', async () => {
    const lost = await use.store.write.followSlots(use.term - 1, [followed()])
    expect(lost).toMatchObject({ ok: false, error: { code: 'LEASE_LOST' } })
    expect((await use.store.read.logTip()).slot).toBe(0)
  })
})

describe.each(databases)('final blocks that a node reported on $name', ({ name, create }) => {
  const use = useStore(create)

  test('are stored outside the order of arrival, once', async () => {
    const { read, write } = use.store
    await write.initialize(use.term, testGenesis())
    await write.acceptBlocks([incomingBlock(1)])
    const parents = [blockIdOf(1)]
    const transaction = {
      transactionId: transactionIdOf(2),
      blockId: blockIdOf(2),
      slot: 1,
      state: 'FAILED',
      failureReason: 7,
    } as const
    const reported = { blocks: [incomingBlock(2, { parents })], transactions: [transaction] }
    await write.storeFinalBlocks(reported)
    await write.storeFinalBlocks({ ...reported, blocks: [...reported.blocks, incomingBlock(1)] })
    expect(await read.block(blockIdOf(2))).toMatchObject({ state: 'FINALIZED' })
    expect(await read.block(blockIdOf(1))).toMatchObject({ state: 'PENDING' })
    expect(await read.transaction(transactionIdOf(2))).toEqual(transaction)
    expect(await read.newestInbox()).toBe(1)
    expect(await read.blocksAfter({ inbox: 0, limit: 10 })).toHaveLength(1)
    await write.storeFinalBlocks({ blocks: [incomingBlock(3, { parents })], transactions: [] })
    const children = await read.children(blockIdOf(1), { skip: 0, limit: 10 })
    expect(children).toEqual([blockIdOf(3), blockIdOf(2)])
  })

  test.runIf(name !== 'sqlite')('are stored once by two gateways at the same time', async () => {
    await use.store.write.initialize(use.term, testGenesis())
    const other = await openedStore(use.url)
    const pool = new Pool({ connectionString: use.url })
    const lock = await pool.connect()
    await lock.query('BEGIN')
    await lock.query('SELECT FROM writer FOR UPDATE')
    const reported = { blocks: [incomingBlock(1)], transactions: [] }
    const stored = [use.store, other].map(({ write }) => write.storeFinalBlocks(reported))
    const outcomes = Promise.allSettled(stored)
    await until(async () => (await sessionsAwaitingLocks(use.url)) === 2)
    await lock.query('COMMIT')
    lock.release()
    const statuses = (await outcomes).map(({ status }) => status)
    await pool.end()
    await other.close()
    expect(statuses).toEqual(['fulfilled', 'fulfilled'])
    expect(await use.store.read.block(blockIdOf(1))).toMatchObject({ state: 'FINALIZED' })
  })
})
