import { describe, expect, test } from 'vitest'
import type { Hex } from '../../../src/lib/hex.ts'
import { databases, useStore } from '../../support/databases.ts'
import { unwrap } from '../../support/log-store.ts'
import {
  blockIdOf,
  booking,
  createdOutput,
  incomingBlock,
  slotCommit,
  testGenesis,
} from '../../support/store-rows.ts'

describe.each(databases)('ids by prefix on $name', ({ create }) => {
  const use = useStore(create)

  /** Returns all ids that begin with some digits. */
  async function idsWithPrefix(digits: string, limit = 1_000) {
    const { read } = use.store
    const from: Hex = `0x${digits}${digits.length % 2 === 0 ? '' : '0'}`
    const range = { from, to: `0x${digits.padEnd(76, 'f')}`, limit } as const
    return [
      (await read.blocksWithin(range)).map(({ blockId }) => blockId),
      (await read.transactionsWithin(range)).map(({ transactionId }) => transactionId),
      (await read.milestonesWithin(range)).map(({ commitmentId }) => commitmentId),
      (await read.outputsWithin(range)).map(({ outputId }) => outputId),
    ]
  }

  test('equal a scan of all ids for any number of digits', async () => {
    const { store, term } = use
    unwrap(await store.write.initialize(term, testGenesis()))
    const numbers = Array.from({ length: 300 }, (_, n) => n + 1)
    const blocks = numbers.map((n) => incomingBlock(n))
    await store.write.acceptBlocks(blocks)
    unwrap(await store.write.book(term, booking({ created: numbers.map((n) => createdOutput(n)) })))
    const states = numbers.map((n) => ({ blockId: blockIdOf(n), state: 'DROPPED' }) as const)
    unwrap(await store.write.book(term, booking({ blocks: states })))
    unwrap(await store.write.closeSlots(term, 40))
    const commits = Array.from({ length: 40 }, (_, i) => slotCommit(i + 1))
    unwrap(await store.write.commitSlots(term, commits))
    const everything = await idsWithPrefix('')
    expect(everything.map(({ length }) => length)).toEqual([300, 300, 41, 301])
    for (const id of everything.flat().filter((_, i) => i % 25 === 0)) {
      for (const length of [1, 2, 3, 8, 63, 72]) {
        const digits = id.slice(2, 2 + length)
        const expected = everything.map((ids) => ids.filter((one) => one.startsWith(`0x${digits}`)))
        expect([digits, await idsWithPrefix(digits)]).toEqual([digits, expected])
      }
    }
    const [first, second] = everything[0] ?? []
    expect((await idsWithPrefix('', 2))[0]).toEqual([first, second])
  })
})
