import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Id } from '../../src/protocol/primitives.ts'
import { createReader } from '../../src/store/reader.ts'
import type { AddressPageQuery } from '../../src/store/rows.ts'
import { createBranchMemory } from '../../src/store/sql/branch-memory.ts'
import { noBranch } from '../../src/store/values.ts'
import { databases, onDatabase, republish, useDatabase, useStore } from '../support/databases.ts'
import { addressOf, entry, slotCommit, testGenesis } from '../support/store-rows.ts'
import { until } from '../support/until.ts'

/** The branches of a page, which are not read again as long as the history is the same, against those that each row reads itself. */

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

  /** What a page waits for before its statement. */
  let gate: Promise<void> | undefined

  function countedReader() {
    const { opened } = database
    return createReader({
      ...opened,
      query: (...asked) => {
        statements++
        return opened.query(...asked)
      },
      queryBoth: async (...asked) => {
        statements++
        await gate
        return await opened.queryBoth(...asked)
      },
    })
  }

  const newest = { address: addressOf(1), after: 0, before: 1_000, order: 'descending' } as const
  const list: AddressPageQuery = { ...newest, class: 'OWNED', limit: 8 }

  /** How many statements it took, after its rows were compared with those that each read their own branch. */
  async function asked(reader: ReturnType<typeof countedReader>, query: AddressPageQuery) {
    statements = 0
    const page = await reader.addressPage(query)
    const taken = statements
    const expected = await use.store.read.updates({ ...query, classes: ['OWNED'] })
    expect(page.rows).toEqual(expected)
    expect(new Set(page.rows.map(({ branch }) => branch)).size).toBe(query.limit / 2)
    return taken
  }

  test('are read once, and that of a new milestone comes with its tip', async () => {
    const reader = countedReader()
    expect(await asked(reader, list)).toBe(2)
    expect(await asked(reader, list)).toBe(1)
    expect(await asked(reader, { ...list, cursors: { behind: [1, 0], seqs: [3, 4] } })).toBe(1)
    // Two milestones more than were asked for before.
    expect(await asked(reader, { ...list, limit: 12 })).toBe(2)
    await commit(7)
    expect(await asked(reader, list)).toBe(1)
    await commit(8)
    await commit(9)
    expect(await asked(reader, list)).toBe(2)
  })

  test('are read again when the database is of another history', async () => {
    const reader = countedReader()
    await asked(reader, list)
    const before = (await reader.addressPage(list)).rows.map(({ branch }) => branch)
    await rewriteFrom(5)
    expect(await asked(reader, list)).toBe(2)
    const after = (await reader.addressPage(list)).rows.map(({ branch }) => branch)
    const isOther = after.map((branch, i) => branch !== before[i])
    expect(isOther).toEqual([true, true, true, true, false, false, false, false])
    expect(await asked(reader, list)).toBe(1)
  })

  test('are not those that another page has noted since, of a history that was replaced', async () => {
    const reader = countedReader()
    await asked(reader, list)
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

  /** As if an older copy of the database had gone on in another way. */
  async function rewriteFrom(slot: number): Promise<void> {
    const marked = name === 'sqlite' ? `X'ffff' || substr(id, 3)` : `'\\xffff' || substr(id, 3)`
    const changed = name === 'sqlite' ? `CAST(${marked} AS BLOB)` : marked
    await onDatabase(use.url, `UPDATE commitments SET id = ${changed} WHERE slot >= ${slot}`)
    await republish(use.url)
  }
})

test('no more branches are kept than fit into a megabyte', () => {
  const memory = createBranchMemory()
  const tipOf = (slot: number) => ({ slot, commitmentId: idOf(slot) })
  let found: `0x${string}` = noBranch
  let most = 0
  for (let slot = 1; slot <= 40_000; slot++) {
    const settled = memory.settle(memory.known(), found, tipOf(slot))
    expect(settled.bySlot.get(slot)).toBe(settled.branch)
    found = memory.known().branch
    most = Math.max(most, memory.known().bySlot.size)
  }
  expect(most).toBe(16_383)
})

function idOf(slot: number): Id<'CommitmentId'> {
  return `0x${slot.toString(16).padStart(72, '0')}` as Id<'CommitmentId'>
}
