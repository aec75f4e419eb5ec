import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLedgerEventReader } from '../../src/service/feed/ledger-events.ts'
import type { StoreReader } from '../../src/store/contract.ts'
import { slotOf } from '../support/feed-log.ts'
import { addresses, type LogStore, openLogStore } from '../support/log-store.ts'
import { blockIdOf, incomingBlock } from '../support/store-rows.ts'

const [owner = '0x'] = addresses
const everything = { slots: true, blocks: true, outputs: true }

let log: LogStore
beforeAll(async () => {
  log = await openLogStore()
})
afterAll(() => log.close())

/** The reading side of a store, with one of its reads failing as often as is said. */
function failing(name: 'logTip' | 'blocksAfter' | 'blockStates' | 'updates') {
  const { read } = log.store
  let times = 0
  const fail = { [name]: (...asked: [never]) => answer(...asked) }
  const answer = (...asked: [never]) =>
    times-- > 0 ? Promise.reject(new Error('away')) : read[name](...asked)
  const reader: StoreReader = { ...read, ...fail }
  return {
    reader,
    next: (count: number) => {
      times = count
    },
  }
}

describe('news of the ledger', () => {
  test.each(['logTip', 'blocksAfter', 'blockStates', 'updates'] as const)(
    'are told once, and none is lost when %s failed before',
    async (name) => {
      const { reader: read, next } = failing(name)
      const news = createLedgerEventReader({ store: { ...log.store, read } })
      expect(await news.look(everything)).toEqual([])
      const slot = log.slot() + 1
      await log.commit(slotOf(owner))
      const block = incomingBlock(slot, { slot: slot + 1 })
      await log.store.write.acceptBlocks([block])
      next(2)
      for (let i = 0; i < 2; i++) await expect(news.look(everything)).rejects.toThrow('away')
      expect(await news.look(everything)).toMatchObject([
        { kind: 'slot', slot },
        { kind: 'block', block: { blockId: blockIdOf(slot) } },
        { kind: 'output', outputId: log.rows.at(-1)?.outputId },
      ])
      expect(await news.look(everything)).toEqual([])
      // Booked away, so that the next slot can be committed.
      await log.store.write.book(1, {
        blocks: [{ blockId: block.blockId, state: 'ACCEPTED' }],
        transactions: [],
        created: [],
        spent: [],
      })
    },
  )
})
