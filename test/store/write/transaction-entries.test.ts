import { describe, expect, test } from 'vitest'
import { present } from '../../../src/lib/assert.ts'
import { transactionOf } from '../../../src/protocol/ids.ts'
import type { Store } from '../../../src/store/contract.ts'
import { databases, onDatabase, openedStore, useStore } from '../../support/databases.ts'
import { foundRandomLedger, type RandomLedger } from '../../support/random-ledger.ts'
import { wholeLog } from '../../support/store-rows.ts'

/** Tests the rows of the log by which the transactions of an address are listed. */

const whole = { above: [0], below: [1_000_000] }

/** Compares the entries with a scan of all rows of the log. */
async function compare({ read }: Store, ledger: RandomLedger): Promise<void> {
  const outputs = await read.outputs(ledger.outputs.map(({ outputId }) => outputId))
  const spenders = new Map(outputs.map(({ outputId, spentBy }) => [outputId, spentBy]))
  const rows = await read.updates(wholeLog)
  const lists = new Map(
    rows.map(({ address, class: of }) => [address + of, { address, class: of }]),
  )
  let passedOver = 0
  const expectedOfAll: object[][] = []
  for (const list of lists.values()) {
    const own = rows.filter((row) => row.address === list.address && row.class === list.class)
    const lastByTransaction = new Map<string, number>()
    for (const { milestoneIndex, outputId, isSpent, seq } of own) {
      const id = isSpent ? present(spenders.get(outputId), outputId) : transactionOf(outputId)
      lastByTransaction.set(`${milestoneIndex} ${id}`, seq)
    }
    const last = new Set(lastByTransaction.values())
    const expected = own
      .filter(({ seq }) => last.has(seq))
      .map(({ seq, milestoneIndex, outputId, isSpent }) => ({
        seq,
        milestoneIndex,
        outputId,
        isSpent,
      }))
    passedOver += own.length - expected.length
    expectedOfAll.push(expected.toReversed().slice(0, 2))
    const [ascending] = await read.transactionEntryPages([{ ...whole, ...list }], {
      ...{ order: 'ascending', limit: 1_000 },
    })
    expect(ascending).toEqual(expected)
    const [some] = await read.transactionEntryPages(
      [{ above: [present(expected[0], 'an entry').seq], below: whole.below, ...list }],
      { order: 'descending', limit: 3 },
    )
    expect(some).toEqual(expected.slice(1).reverse().slice(0, 3))
  }
  expect(passedOver).toBeGreaterThan(2)
  const parts = [...lists.values()].map((list) => ({ ...whole, ...list }))
  const ofAll = await read.transactionEntryPages(parts, { order: 'descending', limit: 2 })
  expect(ofAll).toEqual(expectedOfAll)
}

/** The index of an address on SQLite when it did not have all columns. */
const formerIndex = [
  'DROP INDEX ledger_updates_address_class_seq_idx',
  'CREATE INDEX ledger_updates_address_class_seq_idx ON ledger_updates (address, class, seq)',
  "DELETE FROM _prisma_migrations WHERE migration_name LIKE '%_address_pages'",
]
const formerTable = [
  'ALTER TABLE ledger_updates DROP COLUMN "isLastOfTransaction"',
  "DELETE FROM _prisma_migrations WHERE migration_name LIKE '%_address_transactions'",
]

describe.each(databases)('entries of transactions on $name', ({ create }) => {
  const use = useStore(create)

  test.each([1, 2])(
    'are the last row of each transaction, also in a database from before them (seed %i)',
    async (seed) => {
      const ledger = await foundRandomLedger(use, seed)
      for (let step = 0; step < 40; step++) {
        await ledger.book()
        await ledger.commit()
      }
      await compare(use.store, ledger)
      await use.store.write.releaseLease(use.term)
      // One statement at a time, because Citus accepts a change of the log in no other way.
      for (const sql of [...(use.url.startsWith('file:') ? formerIndex : []), ...formerTable]) {
        await onDatabase(use.url, sql)
      }
      const store = await openedStore(use.url)
      await compare(store, ledger)
      await store.close()
    },
  )
})
