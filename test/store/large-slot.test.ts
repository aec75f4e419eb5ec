import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { rowsPerPage } from '../../src/store/sql/slot-outputs.ts'
import { createTransfers } from '../bench/transfers.ts'
import { databases, useStore } from '../support/databases.ts'
import { contentsOf, unwrap } from '../support/log-store.ts'
import { slotCommit, testGenesis } from '../support/store-rows.ts'

/** Tests a slot with more rows than one page or one statement. */

const transfers = rowsPerPage + 200

describe.each(databases)('a large slot on $name', ({ create }) => {
  const use = useStore(create)

  test('is read page by page, and reads are served while it is committed', async () => {
    const { store, term } = use
    unwrap(await store.write.initialize(term, testGenesis()))
    const source = createTransfers(1_000_000, 'many', transfers)
    for (const slot of [1, 2]) {
      const { incoming, booking, entries } = source.next(slot)
      await store.write.acceptBlocks(incoming)
      unwrap(await store.write.closeSlots(term, slot))
      unwrap(await store.write.book(term, booking))
      const contents = await contentsOf(store, slot, slot)
      expect(contents.blocks.map(({ blockId }) => blockId)).toEqual(
        incoming.map(({ blockId }) => blockId),
      )
      expect(contents.transactions.length).toBe(transfers)
      expect(idsOf(contents.created)).toEqual(idsOf(booking.created))
      expect(idsOf(contents.spent)).toEqual(idsOf(booking.spent))
      expect(contents.spent.every(({ spentSlot }) => spentSlot === slot)).toBe(true)

      let isOver = false
      const slots: number[] = []
      const reading = (async () => {
        while (!isOver) {
          await setImmediate()
          slots.push((await store.read.logTip()).slot)
        }
      })()
      unwrap(await store.write.commitSlots(term, [slotCommit(slot, entries)]))
      isOver = true
      await reading
      // On SQLite there would be one read, at the beginning, if the commit did not yield.
      expect(slots.filter((one) => one === slot - 1).length).toBeGreaterThan(2)
      const { seq } = await store.read.logTip()
      const first = (await store.read.milestone(slot))?.firstSeq ?? 0
      expect(seq - first + 1).toBe(entries.length)
      const finals = await store.read.blocks(incoming.map(({ blockId }) => blockId))
      expect(new Set(finals.map(({ state }) => state))).toEqual(new Set(['FINALIZED']))
      expect(finals.length).toBe(transfers)
    }
  }, 120_000)
})

function idsOf(outputs: readonly { readonly outputId: string }[]): string[] {
  return outputs.map(({ outputId }) => outputId).sort()
}
