import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { logEntries } from '../../src/ledger/updates.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import type { OutputId } from '../../src/protocol/primitives.ts'
import { readSnapshot, rowsPerChunk } from '../../src/service/feed/feed-snapshot.ts'
import type { LedgerUpdate, UpdateClass } from '../../src/store/rows.ts'
import { noBranch } from '../../src/store/values.ts'
import { defaultDatabase, useStore } from '../support/databases.ts'
import { slotOf } from '../support/feed-log.ts'
import { addresses, openLogStore } from '../support/log-store.ts'
import {
  foundRandomLedger,
  minCommittableAge,
  type RandomLedger,
} from '../support/random-ledger.ts'
import { runs } from '../support/runs.ts'

const parameters = { ...developmentParameters(0), minCommittableAge }

describe('a snapshot', () => {
  const use = useStore(defaultDatabase().create)

  test('has exactly the outputs that are unspent at its position, even if slots are committed meanwhile (17)', async () => {
    const ledger = await foundRandomLedger(use, 5)
    for (let i = 0; i < 12; i++) {
      await ledger.book()
      await ledger.commit()
    }
    const all = {
      classes: ['OWNED', 'MENTIONED'] as const,
      after: 0,
      before: Number.MAX_SAFE_INTEGER,
      limit: 100_000,
      order: 'ascending' as const,
    }
    const log = await use.store.read.updates(all)
    const known = [...new Set(log.map(({ address }) => address))]
    const { seq } = await use.store.read.logTip()
    const anyPlace = fc.record({
      position: fc.oneof(fc.nat({ max: seq }), fc.constant(seq)),
      addresses: fc.uniqueArray(fc.constantFrom(...known), { minLength: 1, maxLength: 3 }),
      classes: fc.constantFrom<readonly UpdateClass[]>(
        ['OWNED'],
        ['MENTIONED'],
        ['OWNED', 'MENTIONED'],
      ),
    })
    // Rarely, because the ledger grows with it.
    const anyChance = fc.nat({ max: 9 }).map((n) => n === 0)
    await fc.assert(
      fc.asyncProperty(anyPlace, anyChance, async ({ position, ...filter }, isBusy) => {
        const { slot } = await use.store.read.logTip()
        const before = await use.store.read.updates(all)
        const received: OutputId[] = []
        let last = false
        const deps = { store: use.store, parameters }
        for await (const { outputIds, isLast } of readSnapshot(deps, {
          filter,
          position: { seq: position, branch: noBranch },
        })) {
          received.push(...outputIds)
          last = isLast
          if (isBusy) {
            await ledger.book()
            await ledger.commit()
          }
        }
        expect(last).toBe(true)
        expect(received.toSorted()).toEqual(
          expectedIds(ledger, before, { position, slot, ...filter }),
        )
      }),
      runs(60),
    )
  })

  test('reads the updates after its position in batches, also inside a large milestone', async () => {
    const log = await openLogStore()
    const [owner = '0x'] = addresses
    await log.commit(slotOf(...Array(600).fill(owner)))
    const { read } = log.store
    let largest = 0
    const updates: typeof read.updates = async (range) => {
      const rows = await read.updates(range)
      largest = Math.max(largest, rows.length)
      return rows
    }
    const deps = { store: { ...log.store, read: { ...read, updates } }, parameters }
    const filter = { addresses: [owner], classes: ['OWNED'] } as const
    const pieces = []
    for await (const piece of readSnapshot(deps, { filter, position: log.positionAt(1) }))
      pieces.push(piece)
    expect(pieces).toMatchObject([{ isLast: true }])
    expect(largest).toBe(rowsPerChunk)
    await log.close()
  })
})

interface Place {
  readonly position: number
  /** The newest slot when the rows were read. */
  readonly slot: number
  readonly addresses: readonly string[]
  readonly classes: readonly UpdateClass[]
}

/** Computes the expected ids from the rows up to the position, for each address separately. */
function expectedIds(
  { outputs }: RandomLedger,
  log: readonly LedgerUpdate[],
  { position, slot: newest, addresses, classes }: Place,
): OutputId[] {
  const earlier = log.filter((row) => row.seq <= position)
  const next = log.find((row) => row.seq > position)
  const isInside = next !== undefined && earlier.at(-1)?.milestoneIndex === next.milestoneIndex
  const slot = next === undefined ? newest : next.milestoneIndex - (isInside ? 0 : 1)
  const ids = addresses.flatMap((address) => {
    const own = earlier.filter((row) => row.address === address)
    const has = (outputId: OutputId, isSpent: boolean) =>
      own.some((row) => row.outputId === outputId && row.isSpent === isSpent)
    return outputs
      .filter(({ outputId }) => has(outputId, false) && !has(outputId, true))
      .filter(({ outputId, output }) =>
        logEntries(parameters, { outputId, output, isSpent: false, slot }).some(
          (entry) => entry.address === address && classes.includes(entry.class),
        ),
      )
      .map(({ outputId }) => outputId)
  })
  return [...new Set(ids)].toSorted()
}
