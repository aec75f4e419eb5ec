import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Id } from '../../../src/protocol/primitives.ts'
import { createReader } from '../../../src/store/reader.ts'
import type { AddressPageQuery } from '../../../src/store/rows.ts'
import { createBranchMemory } from '../../../src/store/sql/branch-memory.ts'
import { noBranch } from '../../../src/store/values.ts'
import { databases, onDatabase, republish, useDatabase, useStore } from '../../support/databases.ts'
import { addressOf, entry, slotCommit, testGenesis } from '../../support/store-rows.ts'
import { until } from '../../support/until.ts'

/** Compares cached branches of a page, which are not read again while the history is the same, with branches that are read for each row. */

describe.each(databases)('the branches of a page on $name', ({ name, create }) => {
  const use = useStore(create)
  const database = useDatabase(use)
  let statements = 0

  beforeEach(async () => {
    statements = 0
    await use.store.write.initialize(use.term, testGenesis({ commit: slotCommit(0) }))
    await use.store.write.closeSlots(use.term, 1_000_000)
    for (let slot = 1; slot <= 6; slot++) await commit(slot)
  })
  afterEach(() => expect(statements).toBeGreaterThan(0))

  async function commit(slot: number): Promise<void> {
    const entries = [entry(1, 2 * slot), entry(1, 2 * slot + 1)]
    expect(await use.store.write.commitSlots(use.term, [slotCommit(slot, entries)])).toMatchObject({
      ok: true,
    })
  }

  /** A promise that a page waits for before its statement. */
  let gate: Promise<void> | undefined

  function countedReader() {
    const { opened } = database
    return createReader({
      ...opened,
      query: (...args) => {
        statements++
        return opened.query(...args)
      },
      queryBoth: async (...args) => {
        statements++
        await gate
        return await opened.queryBoth(...args)
      },
    })
  }

  const newest = { address: addressOf(1), after: 0, before: 1_000, order: 'descending' } as const
  const list: AddressPageQuery = { ...newest, class: 'OWNED', limit: 8 }

  /** Counts the statements of a page, and compares its rows with rows that each read their own branch. */
  async function countStatements(
    reader: ReturnType<typeof countedReader>,
    query: AddressPageQuery,
  ) {
    statements = 0
    const page = await reader.addressPage(query)
    const count = statements
    const expected = await use.store.read.updates({ ...query, classes: ['OWNED'] })
    expect(page.rows).toEqual(expected)
    expect(new Set(page.rows.map(({ branch }) => branch)).size).toBe(query.limit / 2)
    return count
  }

  test("are read once, and a new milestone's branch is read with its tip", async () => {
    const reader = countedReader()
    expect(await countStatements(reader, list)).toBe(2)
    expect(await countStatements(reader, list)).toBe(1)
    expect(
      await countStatements(reader, { ...list, cursors: { behind: [1, 0], seqs: [3, 4] } }),
    ).toBe(1)
    // Two more milestones than the request before.
    expect(await countStatements(reader, { ...list, limit: 12 })).toBe(2)
    await commit(7)
    expect(await countStatements(reader, list)).toBe(1)
    await commit(8)
    await commit(9)
    expect(await countStatements(reader, list)).toBe(2)
  })

  test('are read again when the database has another history', async () => {
    const reader = countedReader()
    await countStatements(reader, list)
    const before = (await reader.addressPage(list)).rows.map(({ branch }) => branch)
    await rewriteFrom(5)
    expect(await countStatements(reader, list)).toBe(2)
    const after = (await reader.addressPage(list)).rows.map(({ branch }) => branch)
    const isOther = after.map((branch, i) => branch !== before[i])
    expect(isOther).toEqual([true, true, true, true, false, false, false, false])
    expect(await countStatements(reader, list)).toBe(1)
  })

  test("are not taken from another page's read of a history that was replaced since", async () => {
    const reader = countedReader()
    await countStatements(reader, list)
    let open = () => {}
    gate = new Promise((resolve) => {
      open = resolve
    })
    statements = 0
    const late = reader.addressPage(list)
    await until(() => statements > 0)
    gate = undefined
    await commit(7)
    // The branch of the newest slot comes with the tip.
    await commit(8)
    const noted = await reader.addressPage(list)
    await rewriteFrom(7)
    open()
    const { rows } = await late
    expect(rows).toEqual(await use.store.read.updates({ ...list, classes: ['OWNED'] }))
    expect(rows[2]?.branch).not.toBe(noted.rows[2]?.branch)
  })

  /** Changes the database as if an older copy of it had continued with other slots. */
  async function rewriteFrom(slot: number): Promise<void> {
    const marked = name === 'sqlite' ? `X'ffff' || substr(id, 3)` : `'\\xffff' || substr(id, 3)`
    const changed = name === 'sqlite' ? `CAST(${marked} AS BLOB)` : marked
    await onDatabase(use.url, `UPDATE commitments SET id = ${changed} WHERE slot >= ${slot}`)
    await republish(use.url)
  }
})

test('the branch cache is limited to a megabyte', () => {
  const memory = createBranchMemory()
  const tipOf = (slot: number) => ({ slot, commitmentId: idOf(slot) })
  let found: `0x${string}` = noBranch
  let largest = 0
  for (let slot = 1; slot <= 40_000; slot++) {
    const settled = memory.settle(memory.known(), found, tipOf(slot))
    expect(settled.bySlot.get(slot)).toBe(settled.branch)
    found = memory.known().branch
    largest = Math.max(largest, memory.known().bySlot.size)
  }
  expect(largest).toBe(16_383)
})

function idOf(slot: number): Id<'CommitmentId'> {
  return `0x${slot.toString(16).padStart(72, '0')}` as Id<'CommitmentId'>
}
