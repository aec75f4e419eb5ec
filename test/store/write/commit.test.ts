import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import type { SlotCommit } from '../../../src/store/contract.ts'
import { branchOf } from '../../../src/store/values.ts'
import { databases, useStore } from '../../support/databases.ts'
import {
  addressOf,
  blockIdOf,
  bookedTransaction,
  booking,
  entry,
  incomingBlock,
  outputIdOf,
  slotCommit,
  testGenesis,
  transactionIdOf,
  wholeLog,
} from '../../support/store-rows.ts'

describe.each(databases)('commits of slots on $name', ({ create }) => {
  const use = useStore(create)

  beforeEach(async () => {
    await use.store.write.initialize(use.term, testGenesis())
    await use.store.write.closeSlots(use.term, 10)
  })

  const commit = (...commits: SlotCommit[]) => use.store.write.commitSlots(use.term, commits)

  test('assign consecutive positions, ordinals and history hashes across slots and calls', async () => {
    const spent = entry(0, 0, { isSpent: true })
    const mentioned = entry(0, 2, { class: 'MENTIONED', roles: ['SENDER', 'ISSUER'] })
    await commit(slotCommit(1, [spent, entry(1, 1)]))
    const tip = await commit(slotCommit(2), slotCommit(3, [entry(1, 2), mentioned]))
    expect(tip).toMatchObject({
      ok: true,
      value: { logId: '0x0102030405060708', seq: 5, slot: 3, prunedSeq: 0 },
    })
    expect(await use.store.read.logTip()).toEqual(tip.ok && tip.value)

    const first = historyHashAfter(new Uint8Array(32), 0, 0)
    const expected = [
      {
        seq: 1,
        ordinal: 1,
        milestoneIndex: 0,
        ...entry(0, 0),
        historyHash: first,
        balance: 1_000n,
      },
      {
        seq: 2,
        ordinal: 2,
        milestoneIndex: 1,
        ...spent,
        historyHash: historyHashAfter(first, 1, 0, 1),
      },
      {
        seq: 5,
        ordinal: 1,
        milestoneIndex: 3,
        ...mentioned,
        historyHash: historyHashAfter(zeros, 3, 2),
      },
    ].map((row) => ({
      ...row,
      branch: branchOf(slotCommit(row.milestoneIndex).commitmentId),
      historyHash: `0x${Buffer.from(row.historyHash).toString('hex')}`,
    }))
    const rows = await use.store.read.updates({ ...wholeLog, address: addressOf(0) })
    expect(rows).toEqual(expected)
    expect(await use.store.read.addressTip(addressOf(0), 'OWNED')).toEqual({
      ordinal: 2,
      historyHash: expected[1]?.historyHash,
    })
    expect(await use.store.read.addressTip(addressOf(0), 'MENTIONED')).toEqual({
      ordinal: 1,
      historyHash: expected[2]?.historyHash,
    })
    expect(await use.store.read.addressTip(addressOf(9), 'OWNED')).toEqual({
      ordinal: 0,
      historyHash: `0x${'00'.repeat(32)}`,
    })
  })

  test('create milestones, found by slot and by commitment, with their range of the log', async () => {
    await commit(slotCommit(1, [entry(1, 1), entry(2, 1)]), slotCommit(2), slotCommit(3))
    const { read } = use.store
    const [one, three] = [slotCommit(1), slotCommit(3)].map(({ slot, commitmentId, bytes }) => ({
      slot,
      commitmentId,
      bytes,
    }))
    expect(await read.milestone(1)).toEqual({ ...one, firstSeq: 2, lastSeq: 3 })
    expect(await read.milestone(2)).toMatchObject({ slot: 2, firstSeq: 4, lastSeq: 3 })
    expect(await read.latestMilestone()).toEqual({ ...three, firstSeq: 4, lastSeq: 3 })
    expect(await read.milestoneByCommitment(slotCommit(1).commitmentId)).toEqual(
      await read.milestone(1),
    )
    expect(await read.milestone(4)).toBeUndefined()
    expect(await read.milestoneByCommitment(slotCommit(4).commitmentId)).toBeUndefined()
  })

  test('finalize the accepted blocks and transactions of their slots only', async () => {
    const { read, write } = use.store
    const slotOf = (n: number) => (n === 4 ? 12 : 11)
    await write.acceptBlocks([1, 2, 3, 4].map((n) => incomingBlock(n, { slot: slotOf(n) })))
    await write.closeSlots(use.term, 11)
    await write.book(
      use.term,
      booking({
        blocks: [1, 2, 3, 4].map((n) => ({
          blockId: blockIdOf(n),
          state: n === 3 ? 'DROPPED' : 'ACCEPTED',
        })),
        transactions: [
          bookedTransaction(1, { slot: 11 }),
          bookedTransaction(2, { slot: 11, state: 'FAILED', failureReason: 9 }),
          bookedTransaction(4, { slot: 12 }),
        ],
      }),
    )
    await commit(...Array.from({ length: 11 }, (_, i) => slotCommit(i + 1)))
    const blocks = await Promise.all([1, 2, 3, 4].map((n) => read.block(blockIdOf(n))))
    expect(blocks.map((block) => block?.state)).toEqual([
      'FINALIZED',
      'FINALIZED',
      'DROPPED',
      'ACCEPTED',
    ])
    const transactions = [1, 2, 3, 4].map((n) => read.transaction(transactionIdOf(n)))
    const states = (await Promise.all(transactions)).map((transaction) => transaction?.state)
    expect(states).toEqual(['FINALIZED', 'FAILED', 'PENDING', 'ACCEPTED'])
  })

  const rejected: readonly (readonly [string, readonly SlotCommit[], string | RegExp])[] = [
    ['a slot is skipped', [slotCommit(2)], 'slot 2 follows'],
    ['a slot comes twice', [slotCommit(1, [entry(1, 1)]), slotCommit(1)], 'slot 1 follows'],
    ['a slot is committed already', [slotCommit(0)], 'slot 0 follows'],
    [
      'a slot is still open',
      Array.from({ length: 11 }, (_, i) => slotCommit(i + 1, [entry(1, i)])),
      'slot 11 is closed',
    ],
    [
      'the last statement fails',
      [
        slotCommit(1, [entry(1, 1)]),
        { ...slotCommit(2), commitmentId: slotCommit(1).commitmentId },
      ],
      /commitments.id/,
    ],
    [
      'there are too many slots',
      Array.from({ length: 1_001 }, (_, i) => slotCommit(i + 1)),
      'at most 1,000',
    ],
  ]

  test.each(rejected)('throw and change nothing when %s', async (_name, commits, message) => {
    const failure = await commit(...commits).catch((thrown: unknown) => thrown)
    expect(messageOf(failure)).toMatch(message)
    const { read } = use.store
    expect(await read.logTip()).toMatchObject({ seq: 1, slot: 0 })
    expect(await read.updates(wholeLog)).toHaveLength(1)
    expect(await read.addressTip(addressOf(1), 'OWNED')).toMatchObject({ ordinal: 0 })
    await commit(slotCommit(1, [entry(1, 1)]))
    expect(await read.logTip()).toMatchObject({ seq: 2, slot: 1 })
  })

  test('throw while a block of the slots is not booked, and succeed after it is booked', async () => {
    await use.store.write.acceptBlocks([incomingBlock(11, { slot: 11 })])
    await use.store.write.closeSlots(use.term, 11)
    const slots = Array.from({ length: 11 }, (_, i) => slotCommit(i + 1))
    await expect(commit(...slots)).rejects.toThrow('1 blocks up to slot 11 are booked')
    const blocks = [{ blockId: blockIdOf(11), state: 'ACCEPTED' }] as const
    await use.store.write.book(use.term, booking({ blocks }))
    expect(await commit(...slots)).toMatchObject({ ok: true, value: { slot: 11 } })
  })

  test('are atomic for concurrent reads', async () => {
    const entriesOf = (slot: number) =>
      Array.from({ length: 50 }, (_, i) => entry(i % 7, 100 * slot + i))
    const slots = Array.from({ length: 10 }, (_, i) => slotCommit(i + 1, entriesOf(i)))
    let isOver = false
    const committing = Promise.all(slots.map((slot) => commit(slot))).finally(() => {
      isOver = true
    })
    const reads: (readonly [rows: number, tip: number])[] = []
    while (!isOver) {
      const rows = await use.store.read.updates(wholeLog)
      reads.push([rows.length, (await use.store.read.logTip()).seq])
      // Several reads in a row take one turn of the event loop, in which nothing is committed.
      await setImmediate()
    }
    await committing
    expect(reads.filter(([rows]) => rows % 50 !== 1)).toEqual([])
    expect(reads.filter(([rows, tip]) => tip < rows)).toEqual([])
    expect(new Set(reads.map(([rows]) => rows)).size).toBeGreaterThan(2)
  })
})

const zeros = new Uint8Array(32)

/** Computes the history hash by its definition, for an output number and a slot below 256. */
function historyHashAfter(
  former: Uint8Array,
  slot: number,
  output: number,
  isSpent = 0,
): Uint8Array {
  const id = Buffer.from(outputIdOf(output).slice(2), 'hex')
  const bytes = Uint8Array.of(...former, slot, 0, 0, 0, ...id, isSpent)
  return createHash('sha256').update(bytes).digest()
}

/** Returns the message of the exception, with the database's message if there is one. */
function messageOf(failure: unknown): string {
  const { message, cause } = failure as { message: string; cause?: { originalMessage?: string } }
  return `${message} ${cause?.originalMessage}`
}
