import { describe, expect, test } from 'vitest'
import { present } from '../../src/lib/assert.ts'
import { developmentParameters } from '../../src/node/embedded/development-parameters.ts'
import { addressKey } from '../../src/protocol/ids.ts'
import { asOfUpdateLimit, readAddressAsOf } from '../../src/service/addresses/address-as-of.ts'
import { addressText } from '../../src/service/addresses/address-text.ts'
import { balancesAt, emptyBalance, ownerInSlot, unspentAt } from '../support/balance-model.ts'
import { databases, useStore } from '../support/databases.ts'
import { askSchema } from '../support/graphql.ts'
import { addresses, openLogStore, outputIdOf } from '../support/log-store.ts'
import { foundRandomLedger, minCommittableAge } from '../support/random-ledger.ts'
import { randomOwners } from '../support/random-outputs.ts'

/** Compares the holdings of addresses at former milestones with a computation from all outputs. */

const keys = randomOwners.map(addressKey)
const parameters = { ...developmentParameters(0), minCommittableAge }
const { signal } = new AbortController()

async function ownedBy(...[services, question]: Readonly<QuestionOf>) {
  const found = await readAddressAsOf(services, question, signal)
  if (!found.ok) throw new Error(found.error.code)
  return found.value
}

type QuestionOf = [
  services: Parameters<typeof readAddressAsOf>[0],
  question: Parameters<typeof readAddressAsOf>[1],
]

describe.each(databases)('at a former milestone on $name', ({ create }) => {
  const use = useStore(create)

  test.each([4, 5])('the holdings of an address match all outputs (seed %i)', async (seed) => {
    const ledger = await foundRandomLedger(use, seed)
    for (let step = 0; step < 15; step++) {
      await ledger.book()
      await ledger.commit()
    }
    const services = { store: use.store, parameters }
    for (let slot = 0; slot <= ledger.committed(); slot++) {
      const expected = balancesAt(ledger.outputs, slot, minCommittableAge)
      for (const address of keys) {
        const { total: _, tokens, ...balance } = expected.get(address) ?? emptyBalance()
        const found = await ownedBy(services, { address, slot })
        expect(found.balance).toEqual(balance)
        expect(Object.fromEntries(found.tokens.map((one) => [one.tokenId, one.balance]))).toEqual(
          tokens,
        )
        const owned = unspentAt(ledger.outputs, slot).filter(
          ({ output }) => ownerInSlot(output, slot, minCommittableAge) === address,
        )
        expect(found.outputs.map(({ outputId }) => outputId).sort()).toEqual(
          owned.map(({ outputId }) => outputId).sort(),
        )
      }
    }
  })

  test('outputs are paged in both directions, and unknown milestones have error codes', async () => {
    const ledger = await foundRandomLedger(use, 6)
    for (let step = 0; step < 15; step++) {
      await ledger.book()
      await ledger.commit()
    }
    const services = { store: use.store, parameters }
    const slot = ledger.committed() - 3
    const all = await Promise.all(keys.map((address) => ownedBy(services, { address, slot })))
    const longest = all
      .map((one, n) => ({
        address: keys[n] ?? '0x',
        ids: one.outputs.map(({ outputId }) => outputId),
      }))
      .toSorted((a, b) => b.ids.length - a.ids.length)[0]
    const { address = '0x', ids = [] } = longest ?? {}
    expect(ids.length).toBeGreaterThan(3)
    const text = addressText(parameters.bech32Hrp, address)
    const read = async (args: string, milestoneIndex = slot) => {
      const { data, errors } = await askSchema(
        services,
        `{ address(address: "${text}") { bech32 asOf(milestoneIndex: ${milestoneIndex}) { milestoneIndex balance { total milestoneIndex }
          unspentOutputs(${args}) { nodes { outputId } pageInfo { hasNextPage endCursor startCursor } } } } }`,
      )
      return { of: data.address.asOf, errors }
    }
    const idsOf = ({ of }: Awaited<ReturnType<typeof read>>) =>
      of.unspentOutputs.nodes.map(({ outputId }: { outputId: string }) => outputId)
    expect(idsOf(await read('sort: OLDEST'))).toEqual(ids)
    expect(idsOf(await read('sort: NEWEST'))).toEqual(ids.toReversed())
    const first = await read('first: 2, sort: OLDEST')
    expect(idsOf(first)).toEqual(ids.slice(0, 2))
    const after = `after: "${first.of.unspentOutputs.pageInfo.endCursor}"`
    expect(idsOf(await read(`first: 1, ${after}, sort: OLDEST`))).toEqual(ids.slice(2, 3))
    const last = await read('last: 2, sort: OLDEST')
    expect(idsOf(last)).toEqual(ids.slice(-2))
    const before = `before: "${last.of.unspentOutputs.pageInfo.startCursor}"`
    expect(idsOf(await read(`${before}, sort: OLDEST`))).toEqual(ids.slice(0, -2))
    const future = await read('first: 1', ledger.committed() + 1)
    expect(future.of).toBeNull()
    expect(future.errors?.map(({ extensions }) => extensions.code)).toEqual([
      'MILESTONE_NOT_COMMITTED',
    ])
    await use.store.write.pruneLog({ milestones: 1, rows: 10_000 })
    const newest = ledger.committed()
    const pruned = await read('first: 1', newest)
    expect(pruned.of).toBeNull()
    // The updates of the newest milestone are kept. Those of an earlier one are missing.
    const tip = present(await use.store.read.prunedTip(address, 'OWNED'), 'a pruned update')
    expect(tip.milestoneIndex).toBeLessThan(newest)
    expect(pruned.errors?.map(({ extensions }) => extensions)).toEqual([
      { code: 'UPDATES_NOT_KEPT', slot: tip.milestoneIndex },
    ])
  })
})

test('an address with more updates than the limit is rejected', async () => {
  const log = await openLogStore()
  const address = addresses[0] ?? '0x'
  const entries = Array.from({ length: asOfUpdateLimit + 1 }, (_, n) => ({
    ...({ address, class: 'OWNED', roles: ['OWNER'], isSpent: false } as const),
    outputId: outputIdOf((n >> 15).toString(16).padStart(2, '0'), n & 0x7fff),
  }))
  await log.commit(entries.slice(1), entries.slice(0, 1))
  const services = { store: log.store, parameters }
  const until = (slot: number) => readAddressAsOf(services, { address, slot }, signal)
  expect(await until(2)).toEqual({
    ok: false,
    error: {
      code: 'ADDRESS_HISTORY_TOO_LONG',
      updates: asOfUpdateLimit + 1,
      limit: asOfUpdateLimit,
    },
  })
  // The log has these outputs, but the table of outputs does not.
  expect(await until(1)).toMatchObject({ ok: true, value: { outputs: [] } })
  await log.close()
})
