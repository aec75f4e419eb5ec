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

/** Returns a reader of the store, one of whose reads fails for the next `count` calls. */
function failing(name: 'logTip' | 'blocksAfter' | 'blockStates' | 'updates') {
  const { read } = log.store
  let times = 0
  const fail = { [name]: (...args: [never]) => answer(...args) }
  const answer = (...args: [never]) =>
    times-- > 0 ? Promise.reject(new Error('away')) : read[name](...args)
  const reader: StoreReader = { ...read, ...fail }
  return {
    reader,
    next: (count: number) => {
      times = count
    },
  }
}

describe('events of the ledger', () => {
  test.each(['logTip', 'blocksAfter', 'blockStates', 'updates'] as const)(
    'are emitted once, and none is lost if %s fails',
    async (name) => {
      const { reader: read, next } = failing(name)
      const news = createLedgerEventReader({ store: { ...log.store, read } })
      expect(await news.next(everything)).toEqual([])
      const slot = log.slot() + 1
      await log.commit(slotOf(owner))
      const block = incomingBlock(slot, { slot: slot + 1 })
      await log.store.write.acceptBlocks([block])
      next(2)
      for (let i = 0; i < 2; i++) await expect(news.next(everything)).rejects.toThrow('away')
      expect(await news.next(everything)).toMatchObject([
        { kind: 'slot', slot },
        { kind: 'block', block: { blockId: blockIdOf(slot) } },
        { kind: 'output', outputId: log.rows.at(-1)?.outputId },
      ])
      expect(await news.next(everything)).toEqual([])
      // Book the block, so that the next slot can be committed.
      await log.store.write.book(1, {
        blocks: [{ blockId: block.blockId, state: 'ACCEPTED' }],
        transactions: [],
        created: [],
        spent: [],
      })
    },
  )
})
