import { describe, expect, test } from 'vitest'
import type { OutputId } from '../../../src/protocol/primitives.ts'
import type { OutputPage } from '../../../src/store/rows.ts'
import { databases, useStore } from '../../support/databases.ts'
import { booking, createdOutput, testGenesis, transactionIdOf } from '../../support/store-rows.ts'

describe.each(databases)('pages of unspent outputs on $name', ({ create }) => {
  const use = useStore(create)

  test('return each output once, by id, and end with an empty page', async () => {
    await use.store.write.initialize(use.term, testGenesis())
    const created = Array.from({ length: 2_500 }, (_, i) => createdOutput(i + 1))
    await use.store.write.book(use.term, booking({ created }))
    const found: { outputId: OutputId; bookedSlot: number }[] = []
    const lengths: number[] = []
    for (;;) {
      const page = await use.store.read.unspentPage(found.at(-1)?.outputId)
      lengths.push(page.length)
      if (page.length === 0) break
      found.push(...page)
    }
    expect(lengths).toEqual([1_000, 1_000, 501, 0])
    const all = [createdOutput(0, { bookedSlot: 0 }), ...created]
    const expected = all.map(({ outputId, bookedSlot }) => ({ outputId, bookedSlot }))
    expect(found).toEqual(expected.sort((a, b) => (a.outputId < b.outputId ? -1 : 1)))
  })

  test('of a slot return all outputs that it created and spent, by id, of any kind and number', async () => {
    await use.store.write.initialize(use.term, testGenesis())
    const created = Array.from({ length: 2_500 }, (_, i) => createdOutput(i + 1))
    await use.store.write.book(use.term, booking({ created }))
    const spent = created
      .slice(0, 2_001)
      .map(({ outputId }) => ({ outputId, spentSlot: 2, spentBy: transactionIdOf(1) }))
    await use.store.write.book(use.term, booking({ spent }))
    for (const [slot, ofCreated, ofSpent] of [
      [1, created, []],
      [2, [], spent],
    ] as const) {
      expect(await idsOf((after) => use.store.read.createdPage(slot, after))).toEqual(
        sorted(ofCreated),
      )
      expect(await idsOf((after) => use.store.read.spentPage(slot, after))).toEqual(sorted(ofSpent))
    }
  })
})

const sorted = (rows: readonly { outputId: OutputId }[]) =>
  rows.map(({ outputId }) => outputId).sort()

async function idsOf(read: (after?: OutputId) => Promise<OutputPage>): Promise<OutputId[]> {
  const found: OutputId[] = []
  for (;;) {
    const { rows, isLast } = await read(found.at(-1))
    found.push(...rows.map(({ outputId }) => outputId))
    if (isLast) return found
    expect(rows).toHaveLength(1_000)
  }
}
