import { describe, expect, test } from 'vitest'
import { openAccountHistories } from '../../../src/node/embedded/account-histories.ts'
import { databases, useStore } from '../../support/databases.ts'
import { accountVersion, slotCommit, testGenesis } from '../../support/store-rows.ts'

describe.each(databases)('account histories on $name', ({ create }) => {
  const use = useStore(create)

  test('read the versions of the covered slots, however many slots the writer has committed', async () => {
    const { read, write } = use.store
    await write.initialize(use.term, testGenesis())
    let rows = 0
    const counting = {
      accountHistories: async (...of: Parameters<typeof read.accountHistories>) => {
        const found = await read.accountHistories(...of)
        rows += found.length
        return found
      },
    }
    const kept = 5
    // No version stays in memory, as if other accounts had been used more recently.
    const histories = openAccountHistories(counting, { newest: 0, kept, limit: 1 })
    const { accountId } = accountVersion(0, 0)
    for (let slot = 1; slot <= 40; slot++) {
      const version = accountVersion(0, slot)
      await histories.add([version])
      await write.closeSlots(use.term, slot)
      await write.commitSlots(use.term, [slotCommit(slot, [], { accounts: [version] })])
      histories.written()
    }
    rows = 0
    const entryAt = await histories.of([accountId])
    expect(rows).toBe(kept + 1)
    for (let slot = 40 - kept; slot <= 40; slot++) {
      expect(entryAt(accountId, slot)).toEqual(accountVersion(0, slot).entry)
    }
  })

  test('read the accounts that a slot changes together, however many are not in memory', async () => {
    const { read } = use.store
    const first = Array.from({ length: 1_200 }, (_, n) => accountVersion(n, 0))
    await use.store.write.initialize(use.term, testGenesis({ accounts: first }))
    let reads = 0
    const counting = {
      accountHistories: (...of: Parameters<typeof read.accountHistories>) => {
        reads++
        return read.accountHistories(...of)
      },
    }
    const histories = openAccountHistories(counting, { newest: 0, kept: 5, limit: 1 })
    const next = first.map((_, n) => accountVersion(n, 1))
    await histories.add(next)
    expect(reads).toBe(3)
    const entryAt = await histories.of(next.map(({ accountId }) => accountId))
    for (const [n, { accountId, entry }] of next.entries()) {
      expect(entryAt(accountId, 0)).toEqual(first[n]?.entry)
      expect(entryAt(accountId)).toEqual(entry)
    }
  })
})
