import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/lib/log.ts'
import type { Result } from '../../src/lib/result.ts'
import { Output } from '../../src/protocol/outputs.ts'
import type { FoundryId, NftId } from '../../src/protocol/primitives.ts'
import { encode } from '../../src/protocol/schema/schema.ts'
import { listChainStates } from '../../src/service/chains/chain-history.ts'
import { listChains } from '../../src/service/chains/list-chains.ts'
import { readChain, readChains } from '../../src/service/chains/read-chain.ts'
import { listTokenHolders } from '../../src/service/chains/token-holders.ts'
import type { KeysetPage } from '../../src/service/lists/keyset-page.ts'
import type { Store } from '../../src/store/contract.ts'
import type { Database } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/open.ts'
import { createReader } from '../../src/store/reader.ts'
import {
  defaultDatabase,
  openedStore,
  type TestDatabase,
  takenLease,
} from '../support/databases.ts'
import { unwrap } from '../support/log-store.ts'
import {
  booking,
  createdOutput,
  outputIdOf,
  slotCommit,
  testGenesis,
  testId,
  transactionIdOf,
} from '../support/store-rows.ts'

const nfts = 60
const states = 60
const owner = { type: 0, pubKeyHash: testId('Address', 32, 1) } as const
const tokenId = testId<'FoundryId'>('FoundryId', 38, 1) as FoundryId

let place: TestDatabase
let store: Store
let database: Database
let statementCount: number

beforeAll(async () => {
  place = await defaultDatabase().create()
  store = await openedStore(place.url)
  const term = await takenLease(store)
  unwrap(await store.write.initialize(term, testGenesis()))
  let n = 0
  const nft = (id: number): Output => ({
    ...{ type: 4, amount: 1n, mana: 0n, nftId: testId<'NftId'>('NftId', 32, id) as NftId },
    unlockConditions: [{ type: 0, address: owner }],
    features: [],
    immutableFeatures: [{ type: 1, address: owner }],
  })
  const tokens = (id: number): Output => ({
    ...{ type: 0, amount: 1n, mana: 0n },
    unlockConditions: [{ type: 0, address: { type: 0, pubKeyHash: testId('Address', 32, id) } }],
    features: [{ type: 5, id: tokenId, amount: BigInt(id) }],
  })
  const row = (output: Output, slot: number) =>
    createdOutput(1_000 + n++, { bytes: encode(Output, output), bookedSlot: slot })
  for (let slot = 1; slot <= states; slot++) {
    const before = n
    const created = [row(nft(0), slot), row(nft(slot), slot), row(tokens(slot), slot)]
    const former = slot === 1 ? [] : [outputIdOf(1_000 + before - 3)]
    const spent = former.map((outputId) => {
      return { outputId, spentSlot: slot, spentBy: transactionIdOf(slot) }
    })
    unwrap(await store.write.book(term, booking({ created, spent })))
    unwrap(await store.write.closeSlots(term, slot))
    unwrap(await store.write.commitSlots(term, [slotCommit(slot)]))
  }
  const opened = await openDatabase({ url: place.url, log: silentLog })
  if (!opened.ok) throw new Error(opened.error.code)
  database = opened.value
})
afterAll(async () => {
  await database.close()
  await store.close()
  await place.remove()
})

function countingDeps() {
  statementCount = 0
  const read = createReader({
    ...database,
    query: (sql, parameters) => {
      statementCount++
      return database.query(sql, parameters)
    },
  })
  return { store: { ...store, read } }
}

type List = readonly [
  name: string,
  statements: number,
  (
    deps: ReturnType<typeof countingDeps>,
    page: { readonly first: number; readonly sort: 'NEWEST' | 'OLDEST' },
  ) => Promise<Result<KeysetPage<object>, object>>,
]

describe('a page runs the same number of statements for every size and position:', () => {
  const nft = testId<'NftId'>('NftId', 32, 0)
  const lists: readonly List[] = [
    ['chains by kind', 1 + 1, (deps, page) => listChains(deps, { kind: 4 }, page)],
    [
      'chains by issuer',
      1 + 1,
      (deps, page) => {
        const value = `0x00${owner.pubKeyHash.slice(2)}` as const
        return listChains(deps, { kind: 4, keys: [{ kind: 'ISSUER', value }] }, page)
      },
    ],
    [
      'chains of an address',
      1 + 1,
      (deps, page) => {
        const heldBy = `0x00${owner.pubKeyHash.slice(2)}` as const
        return listChains(deps, { kind: 4, heldBy }, page)
      },
    ],
    [
      'states of a chain',
      1 + 1,
      async (deps, page) => {
        const chain = await readChain(deps, 4, nft)
        return await listChainStates(deps, { chainId: nft, length: chain?.length ?? 0 }, page)
      },
    ],
    [
      'holders of a token',
      1,
      (deps, page) => listTokenHolders(deps, { tokenId, circulatingSupply: 1_830n }, page),
    ],
  ]

  test.each(lists)('%s', async (_name, statements, list) => {
    for (const first of [1, 50]) {
      for (const sort of ['NEWEST', 'OLDEST'] as const) {
        const listed = await list(countingDeps(), { first, sort })
        if (!listed.ok) throw new Error('refused')
        const page = listed.value
        expect([page.nodes.length, statementCount]).toEqual([first, statements])
        // No further statement checks for earlier rows.
        expect([await page.hasNextPage(), await page.hasPreviousPage(), statementCount]).toEqual([
          true,
          false,
          statements,
        ])
      }
    }
  })
})

test('each of 60 NFTs of an address is listed once, including one with many states', async () => {
  const heldBy = `0x00${owner.pubKeyHash.slice(2)}` as const
  const page = { first: 1_000, sort: 'OLDEST' } as const
  const { nodes } = unwrap(await listChains(countingDeps(), { kind: 4, heldBy }, page))
  expect(new Set(nodes.map(({ chainId }) => chainId)).size).toBe(nfts + 1)
  expect(nodes).toHaveLength(nfts + 1)
  const chains = await readChains(
    countingDeps(),
    nodes.map(({ chainId }) => chainId),
  )
  for (const { chainId, current, slot } of nodes) {
    const read = chains.get(chainId)
    expect([current?.outputId, slot]).toEqual([read?.current?.outputId, read?.slot])
  }
  expect([...chains.values()].filter(({ length }) => length === states)).toHaveLength(1)
})
