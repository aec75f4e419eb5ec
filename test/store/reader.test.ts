import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import type { LedgerUpdate, LogEntry, LogRange } from '../../src/store/rows.ts'
import { branchOf } from '../../src/store/values.ts'
import { databases, useStore } from '../support/databases.ts'
import {
  addressOf,
  blockIdOf,
  entry,
  incomingBlock,
  slotCommit,
  testGenesis,
} from '../support/store-rows.ts'
import { until } from '../support/until.ts'

const anyEntry: fc.Arbitrary<LogEntry> = fc
  .record({
    address: fc.nat(3),
    output: fc.nat(1_000),
    class: fc.constantFrom('OWNED' as const, 'MENTIONED' as const),
    roles: fc.subarray(['OWNER', 'SENDER', 'RESTRICTED_INNER'] as const),
    isSpent: fc.boolean(),
  })
  .map(({ address, output, ...rest }) => entry(address, output, rest))

const anyRange: fc.Arbitrary<LogRange> = fc
  .record({
    address: fc.option(fc.nat(4).map(addressOf), { nil: undefined }),
    classes: fc.subarray(['OWNED', 'MENTIONED'] as const, { minLength: 1 }),
    after: fc.nat(60),
    before: fc.oneof(fc.nat(60), fc.constant(Number.MAX_SAFE_INTEGER)),
    limit: fc.integer({ min: 1, max: 60 }),
    order: fc.constantFrom('ascending' as const, 'descending' as const),
  })
  .map(({ address, ...range }) => (address === undefined ? range : { address, ...range }))

describe.each(databases)('reads on $name', ({ create }) => {
  const use = useStore(create)

  beforeEach(async () => {
    await use.store.write.initialize(use.term, testGenesis({ commit: slotCommit(0) }))
    await use.store.write.closeSlots(use.term, 1_000_000)
  })

  test('return another version after each change', async () => {
    const { read, write } = use.store
    const versions = [await read.version()]
    for (const slot of [1, 2]) {
      await write.commitSlots(use.term, [slotCommit(slot, [])])
      versions.push(await read.version())
    }
    expect(new Set(versions).size).toBe(3)
    // Transactions in other databases of a PostgreSQL server change the version too, such as those of other tests or of autovacuum.
    const isStable = async () => {
      const before = await read.version()
      return (await read.version()) === before
    }
    await until(isStable, { what: 'the version stays the same without changes' })
  })

  test('return any range of the log as a list does', async () => {
    const slots = fc.array(fc.array(anyEntry, { maxLength: 12 }), { minLength: 1, maxLength: 5 })
    const model: LedgerUpdate[] = []
    let slot = 0
    await fc.assert(
      fc.asyncProperty(slots, fc.array(anyRange, { maxLength: 8 }), async (added, ranges) => {
        const commits = added.map((entries) => slotCommit(++slot, entries))
        await use.store.write.commitSlots(use.term, commits)
        for (const { slot: milestoneIndex, entries } of commits)
          for (const row of entries) model.push(placed(row, milestoneIndex, model))
        for (const range of ranges) {
          const rows = await use.store.read.updates(range)
          expect(rows).toEqual(sliceOf(model, range))
        }
      }),
      { numRuns: Number(process.env.FC_NUM_RUNS ?? 40) },
    )
    expect((await use.store.read.logTip()).seq).toBe(model.length)
  })

  test('return the youngest blocks by issuing time as recent blocks, without dropped ones', async () => {
    const times = [5n, 9n, 7n, 8n]
    const base = 1_700_000_000_000_000_000n
    const slotAt = (time: bigint) => 1_000_001 + Number(time / 4n)
    const blocks = times.map((time, n) =>
      incomingBlock(n, { issuingTime: base + time, slot: slotAt(time) }),
    )
    await use.store.write.acceptBlocks(blocks)
    await use.store.write.book(use.term, {
      blocks: [{ blockId: blockIdOf(3), state: 'DROPPED' }],
      transactions: [],
      created: [],
      spent: [],
    })
    const recent = await use.store.read.recentBlocks(2)
    expect(recent.map(({ blockId }) => blockId)).toEqual([1, 2].map(blockIdOf))
  })

  test('return the last one to arrive first among recent blocks of the same time', async () => {
    const issuance = { issuingTime: 1_700_000_000_000_000_000n, slot: 1_000_001 }
    const arrived = [4, 9, 1, 8, 2, 7, 3, 6, 5]
    for (const n of arrived) await use.store.write.acceptBlocks([incomingBlock(n, issuance)])
    // PostgreSQL moves a row that changes, so that its place no longer shows when it arrived.
    const blocks = arrived
      .slice(0, 3)
      .map((n) => ({ blockId: blockIdOf(n), state: 'ACCEPTED' as const }))
    await use.store.write.book(use.term, { blocks, transactions: [], created: [], spent: [] })
    const recent = await use.store.read.recentBlocks(5)
    expect(recent.map(({ blockId }) => blockId)).toEqual(
      arrived.toReversed().slice(0, 5).map(blockIdOf),
    )
  })

  test('return undefined for what does not exist', async () => {
    const { read } = use.store
    const { blockId, transactionId } = incomingBlock(1)
    expect(await read.block(blockId)).toBeUndefined()
    expect(transactionId && (await read.transaction(transactionId))).toBeUndefined()
    expect(await read.output(entry(0, 99).outputId)).toBeUndefined()
    expect(await read.outputs([entry(0, 99).outputId])).toEqual([])
    expect(await read.chainRecord('none')).toBeUndefined()
  })
})

function placed(row: LogEntry, milestoneIndex: number, before: readonly LedgerUpdate[]) {
  const same = before.filter(({ address, class: other }) => {
    return address === row.address && other === row.class
  })
  return {
    ...row,
    seq: before.length + 1,
    ordinal: same.length + 1,
    milestoneIndex,
    branch: branchOf(slotCommit(milestoneIndex).commitmentId),
    historyHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  }
}

function sliceOf(model: readonly LedgerUpdate[], range: LogRange): LedgerUpdate[] {
  const rows = model.filter(
    ({ address, class: updateClass, seq }) =>
      (range.address === undefined || address === range.address) &&
      range.classes.includes(updateClass) &&
      seq > range.after &&
      seq < range.before,
  )
  return (range.order === 'ascending' ? rows : rows.toReversed()).slice(0, range.limit)
}
