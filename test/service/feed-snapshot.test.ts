import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { compareLogEntries, logEntries, updateClasses } from '../../src/ledger/updates.ts'
import type { Hex } from '../../src/lib/hex.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { Output } from '../../src/protocol/outputs.ts'
import type { OutputId } from '../../src/protocol/primitives.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import { readSnapshot, rowsPerChunk } from '../../src/service/feed/feed-snapshot.ts'
import type { LedgerUpdate, UpdateClass } from '../../src/store/rows.ts'
import { noBranch } from '../../src/store/values.ts'
import { defaultDatabase, useStore } from '../support/databases.ts'
import { slotOf } from '../support/feed-log.ts'
import { addresses, openLogStore, unwrap } from '../support/log-store.ts'
import {
  foundRandomLedger,
  minCommittableAge,
  type RandomLedger,
} from '../support/random-ledger.ts'
import { runs } from '../support/runs.ts'
import {
  addressOf,
  blockIdOf,
  booking,
  entry,
  outputIdOf,
  ownedOutput,
  slotCommit,
  testGenesis,
  testId,
  transactionIdOf,
} from '../support/store-rows.ts'

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

  test('of two addresses has an output whose spending the position contains for the first of them only', async () => {
    const [owner, sender, outputId] = [addressOf(1), addressOf(2), outputIdOf(1)]
    const address = { type: 0, pubKeyHash: testId('Address', 32, 2) } as const
    const output = { ...ownedOutput(1, 1n), features: [{ type: 0, address }] } as const
    const { write } = use.store
    const genesis = testGenesis({ outputs: [], commit: slotCommit(0) })
    unwrap(await write.initialize(use.term, genesis))
    const created = [
      { outputId, bytes: encode(Output, output), blockId: blockIdOf(0), bookedSlot: 1 },
    ]
    const spent = [{ outputId, spentSlot: 1, spentBy: transactionIdOf(1) }]
    unwrap(await write.book(use.term, booking({ created, spent })))
    unwrap(await write.closeSlots(use.term, 1))
    const entriesOf = (isSpent: boolean) =>
      logEntries(parameters, { outputId, output, isSpent, slot: 1 })
    const entries = [...entriesOf(false), ...entriesOf(true)]
    expect(entries.map((one) => [one.address, one.isSpent])).toEqual([
      [owner, false],
      [sender, false],
      [owner, true],
      [sender, true],
    ])
    unwrap(await write.commitSlots(use.term, [slotCommit(1, entries)]))
    const at = async (seq: number, addresses: readonly Hex[]) => {
      const filter = { addresses, classes: updateClasses }
      const pieces = readSnapshot(
        { store: use.store, parameters },
        { filter, position: { seq, branch: noBranch } },
      )
      return (await Array.fromAsync(pieces)).flatMap(({ outputIds }) => outputIds)
    }
    expect(await at(3, [owner, sender])).toEqual([outputId])
    expect(await at(3, [owner])).toEqual([])
    expect(await at(4, [owner, sender])).toEqual([])
  })

  describe('of an address with many outputs', () => {
    const count = 40 * rowsPerChunk + 10
    const ids = Array.from({ length: count }, (_, n) => outputIdOf(n)).sort()
    let slot = 0

    /** Books and commits a slot that creates or spends outputs of the address. */
    async function commit(outputIds: readonly OutputId[], isSpent: boolean): Promise<void> {
      slot++
      const { write } = use.store
      const bytes = encode(Output, ownedOutput(1, 1n))
      const rows = outputIds.map((outputId) => {
        return { outputId, bytes, blockId: blockIdOf(0), bookedSlot: slot }
      })
      const spent = outputIds.map((outputId) => {
        return { outputId, spentSlot: slot, spentBy: transactionIdOf(slot) }
      })
      unwrap(await write.book(use.term, booking(isSpent ? { spent } : { created: rows })))
      const entries = outputIds.map((outputId) => ({ ...entry(1, 0, { isSpent }), outputId }))
      unwrap(await write.closeSlots(use.term, slot))
      const slots = [slotCommit(slot, entries.sort(compareLogEntries))]
      unwrap(await write.commitSlots(use.term, slots))
    }

    /** Yields the ids of a snapshot at the tip. */
    async function* pieces(): AsyncGenerator<readonly OutputId[]> {
      const filter = { addresses: [addressOf(1)], classes: ['OWNED'] } as const
      const { seq } = await use.store.read.logTip()
      const deps = { store: use.store, parameters }
      for await (const { outputIds } of readSnapshot(deps, {
        filter,
        position: { seq, branch: noBranch },
      }))
        yield outputIds
    }

    beforeEach(async () => {
      slot = 0
      unwrap(
        await use.store.write.initialize(
          use.term,
          testGenesis({ outputs: [], commit: slotCommit(0) }),
        ),
      )
      for (let from = 0; from < count; from += 10_000)
        await commit(ids.slice(from, from + 10_000), false)
    })

    test('has each of them once, also those that are spent while it is read (17)', async () => {
      const received: OutputId[] = []
      const spent = new Set<OutputId>()
      for await (const piece of pieces()) {
        received.push(...piece)
        const next = received.length
        // Some that were read, and some that were not.
        const some = new Set([piece[0], piece.at(-1), ids[next + 3], ids[next + rowsPerChunk]])
        const chosen = [...some].flatMap((id) => (id === undefined || spent.has(id) ? [] : id))
        if (next > 10 * rowsPerChunk) continue
        await commit(chosen, true)
        for (const id of chosen) spent.add(id)
      }
      expect(received.toSorted()).toEqual(ids)
    })

    test('keeps none of their ids', async () => {
      setFlagsFromString('--expose-gc')
      const collect: () => void = runInNewContext('gc')
      const heap = () => {
        collect()
        return process.memoryUsage().heapUsed
      }
      let received = 0
      let before = 0
      let grown = 0
      for await (const { length } of pieces()) {
        received += length
        before ||= heap()
        if (length === 0) grown = heap() - before
      }
      expect(received).toBe(count)
      // The ids alone would take more than two megabytes.
      expect(grown).toBeLessThan(1_000_000)
    })
  })

  test('does not end as a whole one when updates after its position were pruned', async () => {
    const log = await openLogStore()
    const [owner = '0x'] = addresses
    await log.commit(slotOf(owner), slotOf(owner), slotOf(owner))
    await log.store.write.pruneLog({ milestones: 1, rows: 10_000 })
    const filter = { addresses: [owner], classes: ['OWNED'] } as const
    const pieces = []
    const deps = { store: log.store, parameters }
    for await (const piece of readSnapshot(deps, { filter, position: log.positionAt(1) }))
      pieces.push(piece)
    expect(pieces.filter(({ isLast }) => isLast)).toEqual([])
    await log.close()
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
