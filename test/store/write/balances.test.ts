import { describe, expect, test } from 'vitest'
import { addressKey } from '../../../src/protocol/ids.ts'
import type { Store } from '../../../src/store/contract.ts'
import { balancesAt, emptyBalance } from '../../support/balance-model.ts'
import { databases, useStore } from '../../support/databases.ts'
import {
  foundRandomLedger,
  minCommittableAge,
  type RandomLedger,
} from '../../support/random-ledger.ts'
import { randomOwners } from '../../support/random-outputs.ts'
import { allTokens } from '../../support/store-rows.ts'

const keys = randomOwners.map(addressKey)

describe.each(databases)('balances on $name', ({ create }) => {
  const use = useStore(create)

  test.each([1, 2, 3])(
    'equal the sums of the outputs after every commit (seed %i)',
    async (seed) => {
      const ledger = await foundRandomLedger(use, seed)
      await compare(use.store, ledger)
      for (let step = 0; step < 25; step++) {
        await ledger.book()
        await ledger.commit()
        await compare(use.store, ledger)
      }
      await compareHistory(use.store, ledger)
    },
  )
})

/** Compares everything stored with a scan of all outputs. */
async function compare({ read }: Store, ledger: RandomLedger): Promise<void> {
  const slot = ledger.committed()
  const expected = balancesAt(ledger.outputs, slot, minCommittableAge)
  for (const key of keys) {
    const { total, tokens, ...parts } = expected.get(key) ?? emptyBalance()
    expect(await read.balance(key)).toEqual({ slot, balance: parts })
    expect(await read.totalAt(key, slot)).toBe(total)
    const owned = await read.tokenBalances(key, allTokens, { order: 'ascending', limit: 10 })
    const byId = owned.map(({ tokenId, balance }) => [tokenId, balance] as const)
    expect(Object.fromEntries(byId)).toEqual(tokens)
    const reversed = await read.tokenBalances(key, allTokens, { order: 'descending', limit: 10 })
    expect(reversed).toEqual(owned.toReversed())
    for (const [i, { tokenId }] of owned.entries()) {
      const rest = { above: [tokenId], below: allTokens.below }
      const next = await read.tokenBalances(key, rest, { order: 'ascending', limit: 10 })
      expect(next).toEqual(owned.slice(i + 1))
    }
  }
  const totals = [...expected].map(([address, { total }]) => ({ address, total }))
  totals.sort((a, b) => Number(b.total - a.total) || (a.address < b.address ? 1 : -1))
  expect(await read.richestAddresses(3)).toEqual({ slot, owners: totals.slice(0, 3) })
  const ranges = [2, 3, 4, 5].flatMap((exponent) => {
    const within = totals.filter(({ total }) => total.toString().length === exponent + 1)
    const total = within.reduce((sum, one) => sum + one.total, 0n)
    return within.length === 0 ? [] : [{ exponent, addresses: within.length, total }]
  })
  expect(await read.balanceRanges()).toEqual({ slot, ranges })
}

/** Compares the totals at the end of every slot so far. */
async function compareHistory({ read }: Store, ledger: RandomLedger): Promise<void> {
  for (let slot = 0; slot <= ledger.committed(); slot++) {
    const expected = balancesAt(ledger.outputs, slot, minCommittableAge)
    for (const key of keys) {
      expect(await read.totalAt(key, slot)).toBe(expected.get(key)?.total ?? 0n)
    }
  }
  expect(await read.totalAt(keys[0] ?? '0x', ledger.committed() + 1)).toBeUndefined()
}
