import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store, StoreReader } from '../../src/store/contract.ts'
import type { Database } from '../../src/store/database.ts'
import { createReader } from '../../src/store/reader.ts'
import { createSnapshots, type Snapshots } from '../../src/store/snapshots.ts'
import {
  databases,
  onDatabase,
  openedStore,
  republish,
  useDatabase,
  useStore,
} from '../support/databases.ts'
import {
  blockIdOf,
  bookedTransaction,
  booking,
  createdOutput,
  entry,
  incomingBlock,
  outputIdOf,
  slotCommit,
  testGenesis,
  transactionIdOf,
} from '../support/store-rows.ts'

/** Compares cached rows, which are final and not read again, with rows that are read each time. */

describe.each(databases)('cached rows of committed slots on $name', ({ name, create }) => {
  const use = useStore(create)
  const database = useDatabase(use)
  let snapshots: Snapshots
  let queries: string[]
  let newest: number

  beforeEach(async () => {
    newest = 0
    await use.store.write.initialize(use.term, testGenesis())
    for (let slot = 1; slot <= 5; slot++) await commit()
    snapshots = createSnapshots(counted(database.opened), createReader(database.opened))
  })
  afterEach(() => snapshots.close())

  /** Books a slot whose transaction spends the output of the slot before. */
  async function book(slot: number): Promise<void> {
    await use.store.write.acceptBlocks([incomingBlock(slot, { slot, kind: 'transaction' })])
    await use.store.write.book(
      use.term,
      booking({
        blocks: [{ blockId: blockIdOf(slot), state: 'ACCEPTED' }],
        transactions: [bookedTransaction(slot, { slot })],
        created: [createdOutput(slot, { bookedSlot: slot })],
        spent: [
          { outputId: outputIdOf(slot - 1), spentSlot: slot, spentBy: transactionIdOf(slot) },
        ],
      }),
    )
  }

  async function commit(): Promise<void> {
    await book(newest + 1)
    await settle(newest + 1)
  }

  async function settle(slot: number, { write }: Pick<Store, 'write'> = use.store): Promise<void> {
    await write.closeSlots(use.term, slot)
    const entries = [entry(slot, slot), entry(slot - 1, slot - 1, { isSpent: true })]
    const sorted = entries.sort((a, b) => (a.outputId < b.outputId ? -1 : 1))
    const done = await write.commitSlots(use.term, [slotCommit(slot, sorted)])
    expect(done).toMatchObject({ ok: true })
    newest = slot
  }

  function counted(opened: Database): Database {
    queries = []
    return {
      ...opened,
      snapshotConnection: () => {
        const connection = opened.snapshotConnection()
        const query: typeof connection.query = (sql, parameters) => {
          // The query for the tip has no parameters, and is not repeated when a snapshot is shared.
          if (parameters.length > 0) queries.push(sql)
          return connection.query(sql, parameters)
        }
        return { ...connection, query }
      },
    }
  }

  const slots = [1, 2, 3, 4, 5, 6, 7]

  /** Reads rows by the keys of all slots, sorted by key. */
  async function readAll(read: StoreReader) {
    const sorted = <T>(rows: readonly T[], keyOf: (row: T) => string | number) =>
      rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    const milestones = await read.milestonesAt(slots)
    const ids = milestones.map(({ commitmentId }) => commitmentId)
    return {
      milestones: sorted(milestones, ({ slot }) => slot),
      same: sorted(await read.milestonesByCommitments(ids), ({ slot }) => slot),
      transactions: sorted(
        await read.transactions(slots.map(transactionIdOf)),
        ({ transactionId }) => transactionId,
      ),
      blocks: sorted(await read.blocks(slots.map(blockIdOf)), ({ blockId }) => blockId),
      outputs: sorted(await read.outputs(slots.map(outputIdOf)), ({ outputId }) => outputId),
      updates: sorted(await read.updatesAt([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), ({ seq }) => seq),
    }
  }

  /** Counts the queries by keys that a snapshot runs, and compares its rows with those of the store. */
  async function countQueries(): Promise<number> {
    const { read, end } = await snapshots.begin()
    queries = []
    const found = await readAll(read)
    const count = queries.length
    end()
    expect(found).toEqual(await readAll(use.store.read))
    return count
  }

  async function cacheRows(): Promise<void> {
    await countQueries()
    await countQueries()
  }

  test('are read twice, and rows that may change each time', async () => {
    expect(await countQueries()).toBe(6)
    // Most rows are read only once, so a row is cached from its second read on.
    expect(await countQueries()).toBe(6)
    // The queries read the rows that do not exist yet, and with these outputs the newest one, which is unspent.
    expect(await countQueries()).toBe(4)
    const { read, end } = await snapshots.begin()
    const known = [1, 2, 3, 4]
    queries = []
    await Promise.all([
      read.milestonesAt(known),
      read.transactions(known.map(transactionIdOf)),
      read.blocks(known.map(blockIdOf)),
      read.outputs(known.map(outputIdOf)),
      read.updatesAt([1, 2, 3]),
    ])
    expect(queries).toHaveLength(0)
    expect(await read.outputs([...known, 5].map(outputIdOf))).toHaveLength(5)
    expect(queries).toHaveLength(1)
    end()
  })

  test('show the moment of a snapshot that is older than the rows', async () => {
    const before = await snapshots.begin()
    const outputs = () => before.read.outputs([outputIdOf(5)])
    expect(await outputs()).toMatchObject([{ spentSlot: undefined }])
    await commit()
    await cacheRows()
    expect(await outputs()).toMatchObject([{ spentSlot: undefined }])
    expect(await before.read.milestonesAt([6])).toEqual([])
    expect(await before.read.transactions([transactionIdOf(6)])).toEqual([])
    before.end()
    const after = await snapshots.begin()
    expect(await after.read.outputs([outputIdOf(5)])).toMatchObject([{ spentSlot: 6 }])
    after.end()
  })

  test('are not cached before their slot is committed', async () => {
    await book(6)
    await cacheRows()
    const before = await snapshots.begin()
    expect(await before.read.transactions([transactionIdOf(6)])).toMatchObject([
      { state: 'ACCEPTED' },
    ])
    before.end()
    await settle(6)
    await cacheRows()
    const after = await snapshots.begin()
    expect(await after.read.transactions([transactionIdOf(6)])).toMatchObject([
      { state: 'FINALIZED' },
    ])
    after.end()
  })

  test('are read again when the database has another history', async () => {
    await cacheRows()
    await rewriteFrom(4)
    // One more query: the first read still takes the rows as cached.
    expect(await countQueries()).toBe(6 + 1)
    await cacheRows()
    expect(await countQueries()).toBe(4)
  })

  test('are read again when a copy of another length replaces the database', async () => {
    await commit()
    await cacheRows()
    await rewriteFrom(5)
    // This process would refuse to write.
    const other = await openedStore(use.url)
    await settle(7, other)
    await other.close()
    // The newest known slot is also read again.
    expect(await countQueries()).toBe(6 + 1 + 1)
    await cacheRows()
    expect(await countQueries()).toBe(3)
  })

  test('are gone after they are pruned', async () => {
    await cacheRows()
    await use.store.write.pruneLog({ milestones: 2, rows: 1_000 })
    const { prunedSeq } = await use.store.read.logTip()
    expect(prunedSeq).toBeGreaterThan(0)
    await cacheRows()
    const { read, end } = await snapshots.begin()
    expect(await read.updatesAt([prunedSeq])).toEqual([])
    expect(await read.updatesAt([prunedSeq + 1])).toHaveLength(1)
    end()
  })

  /** Changes the database as if an older copy of it had continued with other slots. */
  async function rewriteFrom(slot: number): Promise<void> {
    const marked = name === 'sqlite' ? `X'ffff' || substr(id, 3)` : `'\\xffff' || substr(id, 3)`
    const changed = name === 'sqlite' ? `CAST(${marked} AS BLOB)` : marked
    const other = `UPDATE transactions SET "blockId" = (SELECT id FROM blocks WHERE slot = 1)`
    await onDatabase(use.url, `UPDATE commitments SET id = ${changed} WHERE slot >= ${slot}`)
    await onDatabase(use.url, `${other} WHERE slot >= ${slot}`)
    await republish(use.url)
  }
})
