import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressText } from '../../../../src/service/addresses/address-text.ts'
import { type ListWorld, openListWorld } from '../../../support/list-world.ts'

/** Lists and counts of addresses by the amount that they own. */

let world: ListWorld

beforeAll(async () => {
  world = await openListWorld()
})
afterAll(() => world.close())

const ask = (source: string) => world.ask(source)

describe('addresses', () => {
  test('are listed by the amount that they own, with balances in one statement', async () => {
    const { owners } = await world.store.read.richestAddresses(1_000)
    const expected = owners.map(({ address, total }) => ({
      bech32: addressText('tst', address),
      balance: { total: String(total) },
    }))
    expect(expected.length).toBeGreaterThan(5)
    const nodes =
      'edges { cursor node { bech32 balance { total } } } pageInfo { hasNextPage hasPreviousPage endCursor }'
    const found: unknown[] = []
    let after = ''
    for (;;) {
      const { data } = await ask(`{ addresses(first: 3 ${after}) { ${nodes} } }`)
      const { edges, pageInfo } = data.addresses
      expect(pageInfo.hasPreviousPage).toBe(found.length > 0)
      found.push(...edges.map(({ node }: { node: unknown }) => node))
      expect(pageInfo.hasNextPage).toBe(found.length < expected.length)
      if (!pageInfo.hasNextPage) break
      after = `after: "${pageInfo.endCursor}"`
    }
    expect(found).toEqual(expected)
    const last = await ask(`{ addresses(last: 2) { nodes { bech32 balance { total } } } }`)
    expect(last.data.addresses.nodes).toEqual(expected.slice(-2))
    const { statements } = await world.askCounted(`{ addresses { ${nodes} } }`, {})
    expect(statements).toBe(2)
  })

  test('are counted by the amount that they own', async () => {
    const { owners } = await world.store.read.richestAddresses(1_000)
    const { data } = await ask('{ balanceDistribution { from to addressCount total } }')
    const counted = data.balanceDistribution.map((range: Record<string, string>) => {
      const isIn = ({ total }: { total: bigint }) =>
        total >= BigInt(range.from ?? '') && total < BigInt(range.to ?? '')
      const own = owners.filter(isIn)
      const total = own.reduce((sum, one) => sum + one.total, 0n)
      return { ...range, addressCount: String(own.length), total: String(total) }
    })
    expect(data.balanceDistribution).toEqual(counted)
    const all = counted.reduce(
      (sum: number, { addressCount }: { addressCount: string }) => sum + Number(addressCount),
      0,
    )
    expect(all).toBe(owners.length)
  })
})
