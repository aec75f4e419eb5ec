import { describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { type BasicOutput, Output } from '../../src/protocol/outputs.ts'
import type { OutputId } from '../../src/protocol/primitives.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import { scanUnspent } from '../../src/service/outputs/scan-unspent.ts'
import { rowsPerTurn } from '../../src/store/contract/list.ts'
import type { UnspentFilter, UnspentQuery } from '../../src/store/contract/view.ts'
import { dialect as postgresql } from '../../src/store/sql/postgresql/dialect.ts'
import { dialect as sqlite } from '../../src/store/sql/sqlite/dialect.ts'
import { databases, useStore } from '../support/databases.ts'
import {
  addressOf,
  booking,
  createdOutput,
  outputIdOf,
  ownedOutput,
  testGenesis,
} from '../support/store-rows.ts'

/** Pages of unspent outputs with a filter that few outputs match. */

function outputOf(n: number, locked: readonly number[]): BasicOutput {
  const plain = ownedOutput(1, 1_000n + BigInt(n))
  if (!locked.includes(n)) return plain
  const unlockConditions = [...plain.unlockConditions, { type: 2, slot: 9 } as const]
  return { ...plain, unlockConditions }
}

describe.each(databases)('on $name', ({ name, create }) => {
  const use = useStore(create)
  const { maxScannedRows } = name === 'sqlite' ? sqlite : postgresql
  // Each range is four times as long as the one before, up to the maximum.
  const lengths = [1, 4, 16, 64].map((times) => Math.min(times * rowsPerTurn, maxScannedRows))
  const ends = lengths.map((_, i) => lengths.slice(0, i + 1).reduce((sum, one) => sum + one))
  const many = present(ends.at(-1), 'a range') + 100
  /** Numbers of the outputs with a timelock: in the first range, at and after its end, and in the last range. */
  const locked = [3, rowsPerTurn - 1, rowsPerTurn, many - 2]

  test('a page of rare outputs is complete, and no statement scans more than the maximum range', async () => {
    const { read, write } = use.store
    await write.initialize(use.term, testGenesis())
    const created = Array.from({ length: many }, (_, n) =>
      createdOutput(n + 1, { bytes: encode(Output, outputOf(n, locked)) }),
    )
    await write.book(use.term, booking({ created }))
    const places = created.map(({ outputId }) => outputId).sort()
    const rare = locked.map((n) => created[n]?.outputId).sort()
    const stops: (OutputId | undefined)[] = []
    const counted = {
      unspentOutputs: read.unspentOutputs,
      unspentScanEnd: async (...question: Parameters<typeof read.unspentScanEnd>) => {
        const stop = await read.unspentScanEnd(...question)
        stops.push(stop.at?.outputId)
        return stop
      },
    }
    const ask = async (question: Omit<UnspentQuery, 'limit'>, limit: number, pieces?: number) => {
      const { rows, stoppedAt } = await scanUnspent(counted, { ...question, limit }, pieces)
      return { ids: rows.map(({ outputId }) => outputId), stoppedAt: stoppedAt?.outputId }
    }
    // The output of the genesis is the first one and has another owner.
    const owner = [{ kind: 'OWNER', value: addressOf(1) }] as const
    const rows: [UnspentFilter, OutputId[]][] = [
      [{ asOf: 'BOOKED', hasTimelock: true }, [outputIdOf(0), ...places]],
      [{ asOf: 'BOOKED', hasTimelock: true, keys: owner }, places],
      [{ asOf: 'BOOKED', hasTimelock: true, created: { after: 0 } }, places],
    ]
    for (const [filter, walk] of rows) {
      const length = walk.length
      stops.length = 0
      expect(await ask({ filter }, 10)).toEqual({ ids: rare, stoppedAt: undefined })
      const at = (n: number) => walk[n - 1]
      expect(stops).toEqual([...ends.map(at), undefined])
      stops.length = 0
      const down = { filter, order: 'descending' } as const
      expect((await ask(down, 10)).ids).toEqual(rare.toReversed())
      expect(stops.slice(0, ends.length)).toEqual(ends.map((end) => at(length - end + 1)))
      // A full page ends the scan.
      stops.length = 0
      expect((await ask({ filter }, 1)).ids).toEqual(rare.slice(0, 1))
      const place = walk.indexOf(present(rare[0], 'an output')) + 1
      expect(stops).toEqual(ends.slice(0, ends.findIndex((end) => end >= place) + 1).map(at))
      // A scan that ends early returns the position from which to continue.
      const part = await ask({ filter }, 10, 1)
      expect(part.stoppedAt).toBe(at(rowsPerTurn))
      const after = { bookedSlot: 1, outputId: present(part.stoppedAt, 'a place') }
      expect([...part.ids, ...(await ask({ filter, after }, 10)).ids]).toEqual(rare)
    }
    stops.length = 0
    expect((await ask({ filter: { asOf: 'BOOKED' } }, 3)).ids).toHaveLength(3)
    expect(stops).toEqual([])
    for (const [maxWalked, scanned] of [
      [7, 7],
      [Number.POSITIVE_INFINITY, maxScannedRows],
    ] as const) {
      const stop = await read.unspentScanEnd({ filter: { asOf: 'BOOKED' } }, maxWalked)
      expect(stop).toMatchObject({ scanned })
    }
  })
})
