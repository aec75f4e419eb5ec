import { describe, expect, test } from 'vitest'

import type { PageArguments } from '../../src/service/lists/keyset-page.ts'
import { listUnspentOutputs } from '../../src/service/lists/list-outputs.ts'
import { rowsPerTurn } from '../../src/store/contract/list.ts'
import { databases, useStore } from '../support/databases.ts'
import { unwrap } from '../support/log-store.ts'
import { booking, createdOutput, testGenesis } from '../support/store-rows.ts'

/** Pages that are read with several statements. */

const created = Array.from({ length: 3 * rowsPerTurn }, (_, i) => createdOutput(i + 1))
const ids = created.map(({ outputId }) => outputId).sort()
const size = 2 * rowsPerTurn + 10

describe.each(databases)('on $name', ({ create }) => {
  const use = useStore(create)

  async function book(): Promise<void> {
    await use.store.write.initialize(use.term, testGenesis({ outputs: [] }))
    await use.store.write.book(use.term, booking({ created }))
  }

  test('a large page is complete and in order from both ends', async () => {
    await book()
    const rows: readonly [PageArguments, string[]][] = [
      [{ first: size, sort: 'OLDEST' }, ids.slice(0, size)],
      [{ last: size, sort: 'OLDEST' }, ids.slice(-size)],
      [{ first: size, sort: 'NEWEST' }, ids.toReversed().slice(0, size)],
      [{ last: size, sort: 'NEWEST' }, ids.toReversed().slice(-size)],
    ]
    for (const [args, expected] of rows) {
      const page = unwrap(await listUnspentOutputs(use, { asOf: 'BOOKED' }, args))
      expect(page.nodes.map(({ outputId }) => outputId)).toEqual(expected)
      const isForward = args.first !== undefined
      expect([await page.hasNextPage(), await page.hasPreviousPage()]).toEqual([
        isForward,
        !isForward,
      ])
    }
    // The page is as long as the list: the last statement finds its end.
    const all = unwrap(
      await listUnspentOutputs(use, { asOf: 'BOOKED' }, { first: ids.length, sort: 'OLDEST' }),
    )
    expect(all.nodes).toHaveLength(ids.length)
    expect(await all.hasNextPage()).toBe(false)
  })

  test('each row is returned once, even for repeated keys', async () => {
    await book()
    const rows = await use.store.read.outputs([...ids, ...ids.slice(0, 10)])
    expect(rows.map(({ outputId }) => outputId).sort()).toEqual(ids)
  })
})
