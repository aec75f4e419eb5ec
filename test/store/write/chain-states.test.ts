import { describe, expect, test } from 'vitest'
import { chainHolderKey } from '../../../src/ledger/index-keys.ts'
import { present } from '../../../src/lib/assert.ts'
import type { Hex } from '../../../src/lib/hex.ts'
import { chainIdOf, outputId, transactionOf } from '../../../src/protocol/ids.ts'
import { Output } from '../../../src/protocol/outputs.ts'
import type { AccountId, Id, OutputId } from '../../../src/protocol/primitives.ts'
import { encode } from '../../../src/protocol/schema/schema.ts'
import type { Store } from '../../../src/store/contract.ts'
import { uint256ToHex } from '../../../src/store/values.ts'
import {
  databases,
  onDatabase,
  openedStore,
  type StoreInUse,
  useStore,
} from '../../support/databases.ts'
import { undoHolders } from '../../support/former-index-keys.ts'
import { unwrap } from '../../support/log-store.ts'
import { createRandom } from '../../support/random.ts'
import { randomOutput, randomTokens } from '../../support/random-outputs.ts'
import {
  allTokens,
  booking,
  createdOutput,
  outputIdOf,
  slotCommit,
  testGenesis,
  testId,
  transactionIdOf,
} from '../../support/store-rows.ts'

/** A chain of the model: its states in order, and the slot in which it ended. */
interface ModelChain {
  readonly chainId: Hex
  readonly kind: 1 | 4
  readonly issuer: number
  readonly states: { readonly outputId: OutputId; readonly slot: number }[]
  end?: number
}

const zeroId = `0x${'00'.repeat(32)}` as const

function stateOf({ kind, issuer, states, chainId }: ModelChain): Output {
  const id = states.length === 0 ? zeroId : chainId
  const address = (n: number) => ({ type: 0, pubKeyHash: testId('Address', 32, n) }) as const
  const common = {
    ...{ amount: 1_000n + BigInt(states.length), mana: 0n, features: [] },
    unlockConditions: [{ type: 0, address: address(issuer + 50) }] as const,
    immutableFeatures: [{ type: 1, address: address(issuer) }] as const,
  }
  if (kind === 4) return { type: 4, ...common, nftId: id as Id<'NftId'> }
  return { type: 1, ...common, accountId: id as AccountId, foundryCounter: 0 }
}

/** Books random moves of chains, some of them several in one slot, and commits slot by slot. */
async function moveChains(use: StoreInUse, seed: number): Promise<ModelChain[]> {
  const { store, term } = use
  const random = createRandom(seed)
  const chains: ModelChain[] = []
  let transactions = 0
  unwrap(await store.write.initialize(term, testGenesis()))

  async function bookIn(slot: number): Promise<void> {
    const created: { outputId: OutputId; output: Output }[] = []
    const spent: { outputId: OutputId; spentSlot: number; spentBy: Id<'TransactionId'> }[] = []
    const moved = chains.filter(({ end }) => end === undefined && random.between(0, 2) > 0)
    for (let born = random.between(0, 3); born > 0; born--) {
      const id = outputId(transactionIdOf(++transactions), 0)
      const kind = random.between(0, 1) === 0 ? 1 : 4
      const chain: ModelChain = {
        ...{ chainId: chainIdOf(id), kind, issuer: random.between(0, 2), states: [] },
      }
      created.push({ outputId: id, output: stateOf(chain) })
      chain.states.push({ outputId: id, slot })
      chains.push(chain)
      if (random.between(0, 2) === 0) moved.push(chain)
    }
    for (const chain of moved) {
      for (let steps = random.between(1, 4); steps > 0 && chain.end === undefined; steps--) {
        const last = chain.states.at(-1)
        const next = outputId(transactionIdOf(++transactions), random.between(0, 5))
        if (last === undefined) continue
        spent.push({ outputId: last.outputId, spentSlot: slot, spentBy: transactionOf(next) })
        if (random.between(0, 7) === 0) chain.end = slot
        else {
          created.push({ outputId: next, output: stateOf(chain) })
          chain.states.push({ outputId: next, slot })
        }
      }
    }
    const rows = created.map(({ outputId: id, output }) => ({
      ...{ outputId: id, bytes: encode(Output, output), blockId: undefined, bookedSlot: slot },
    }))
    const parts = { created: random.shuffled(rows), spent }
    unwrap(await store.write.book(term, booking(parts)))
  }

  for (let slot = 1; slot <= 12; slot += 3) {
    for (let ahead = 0; ahead < 3; ahead++) await bookIn(slot + ahead)
    unwrap(await store.write.closeSlots(term, slot + 2))
    // Commits one slot alone, and then several at once.
    const commits = [slot, slot + 1, slot + 2].map((one) => slotCommit(one))
    unwrap(await store.write.commitSlots(term, commits.slice(0, 1)))
    unwrap(await store.write.commitSlots(term, commits.slice(1)))
  }
  // The last slot is booked and not committed, so it changes no state and ends no chain.
  const model = structuredClone(chains)
  await bookIn(13)
  return model
}

async function compare({ read }: Store, chains: readonly ModelChain[]): Promise<void> {
  const whole = { above: [0], below: [1_000] }
  const page = { order: 'ascending', limit: 1_000 } as const
  for (const { chainId, kind, states } of chains) {
    const expected = states.map(({ outputId: id, slot: bookedSlot }, i) => {
      return { chainId, kind, outputId: id, bookedSlot, ordinal: i + 1 }
    })
    expect(await read.chainStates(chainId, whole, page)).toEqual(expected)
    const turned = { order: 'descending', limit: 3 } as const
    expect(await read.chainStates(chainId, { above: [1], below: [6] }, turned)).toEqual(
      expected.slice(1, 5).reverse().slice(0, 3),
    )
    const last = expected.at(-1)
    const slot = (await read.latestMilestone()).slot
    const output = last && (await read.output(last.outputId))
    expect(await read.newestChainStates([chainId])).toEqual([{ ...last, slot, output }])
  }
  const ids = chains.map(({ chainId }) => chainId)
  const newest = await read.newestChainStates([...ids, testId('NftId', 32, 1)])
  expect(newest.map(({ chainId }) => chainId).sort()).toEqual(ids.toSorted())
  for (const [from, to] of [
    ['0x', '0xffff'],
    ['0x40', '0x80'],
    ['0xffff', '0xffff'],
  ] as const) {
    const within = ids.filter((id) => id >= from && id <= to).sort()
    expect(await read.chainIdsWithin({ from, to, limit: 1_000 })).toEqual(within)
    expect(await read.chainIdsWithin({ from, to, limit: 3 })).toEqual(within.slice(0, 3))
  }
  await compareAlive(read, chains)
}

async function compareAlive(read: Store['read'], chains: readonly ModelChain[]): Promise<void> {
  const place = ({ slot, outputId: id }: { slot: number; outputId: string }) =>
    `${slot + 100} ${id}`
  for (const kind of [1, 4] as const) {
    for (const issuer of [undefined, 0, 1, 2]) {
      const alive = chains
        .filter((chain) => chain.kind === kind && chain.end === undefined)
        .filter((chain) => issuer === undefined || chain.issuer === issuer)
        .flatMap(({ states }) => states.slice(-1))
        .sort((a, b) => (place(a) < place(b) ? -1 : 1))
      const address = (n: number): Hex => `0x00${testId('Address', 32, n).slice(2)}`
      const keys =
        issuer === undefined
          ? []
          : ([
              { kind: 'ISSUER', value: address(issuer) },
              chainHolderKey(kind, address(issuer + 50)),
            ] as const)
      const at = (i: number) => {
        const found = alive[i]
        return found && [found.slot, found.outputId]
      }
      for (const order of ['ascending', 'descending'] as const) {
        for (const [above, below] of [
          [-1, -1],
          [0, -1],
          [-1, 2],
          [0, 3],
        ] as const) {
          const [start, end] = [at(above) ? above + 1 : 0, at(below) ? below : alive.length]
          const part = alive.slice(start, end)
          const expected = order === 'ascending' ? part : part.toReversed()
          const [lowest, highest] = [at(above) ?? [-1, '0x'], at(below) ?? [1_000, '0x']]
          const question = { kind, keys, above: lowest, below: highest }
          const rows = await read.aliveChains({ ...question, order, limit: 4 })
          expect(rows.map(({ outputId: id }) => id)).toEqual(
            expected.slice(0, 4).map(({ outputId: id }) => id),
          )
        }
      }
    }
  }
}

describe.each(databases)('states of chains on $name', ({ create }) => {
  const use = useStore(create)

  test.each([1, 2])('equal those of a model of chains (seed %i)', async (seed) => {
    const chains = await moveChains(use, seed)
    const lengths = chains.map(({ states }) => states.length)
    expect([chains.some(({ end }) => end !== undefined), Math.max(...lengths) > 6]).toEqual([
      true,
      true,
    ])
    await compare(use.store, chains)
    expect(
      await use.store.read.chainStates(
        testId('NftId', 32, 1),
        { above: [0], below: [9] },
        { order: 'ascending', limit: 9 },
      ),
    ).toEqual([])
  })

  test('are kept when the log is pruned', async () => {
    const chains = await moveChains(use, 3)
    await use.store.write.pruneLog({ milestones: 1, rows: 10_000 })
    await compare(use.store, chains)
  })

  test('are filled in a database that an older version made', async () => {
    const chains = await moveChains(use, 4)
    await use.store.write.releaseLease(use.term)
    await forgetMigration(use.url)
    const store = await openedStore(use.url)
    await compare(store, chains)
    await store.close()
  })

  test('come with the holders of tokens, the richest first, also in a database that an older version made', async () => {
    const { store: first, term } = use
    const random = createRandom(5)
    unwrap(await first.write.initialize(term, testGenesis()))
    for (let slot = 1; slot <= 3; slot++) {
      const created = Array.from({ length: 100 }, (_, n) =>
        createdOutput(slot * 100 + n, {
          bytes: encode(Output, randomOutput(random, slot, 6)),
          bookedSlot: slot,
        }),
      )
      const spent = Array.from({ length: slot === 3 ? 50 : 0 }, (_, n) => {
        return { outputId: outputIdOf(100 + 3 * n), spentSlot: slot, spentBy: transactionIdOf(n) }
      })
      unwrap(await first.write.book(term, booking({ created, spent })))
      unwrap(await first.write.closeSlots(term, slot))
      unwrap(await first.write.commitSlots(term, [slotCommit(slot)]))
    }
    await compareHolders(use.store)
    await use.store.write.releaseLease(use.term)
    await forgetMigration(use.url)
    const store = await openedStore(use.url)
    await compareHolders(store)
    await store.close()
  })
})

/** Compares the holders of each token with the balances of all addresses. */
async function compareHolders({ read }: Store): Promise<void> {
  const { owners } = await read.richestAddresses(1_000)
  const locked: bigint[] = []
  for (const tokenId of randomTokens) {
    const held = await Promise.all(
      owners.map(async ({ address }) => {
        const page = { order: 'ascending', limit: 100 } as const
        const tokens = await read.tokenBalances(address, allTokens, page)
        const own = tokens.find((one) => one.tokenId === tokenId)?.balance
        locked.push((own?.timelocked ?? 0n) + (own?.expiring ?? 0n))
        const total = own === undefined ? 0n : own.available + own.timelocked + own.expiring
        return { address, total }
      }),
    )
    const richest = held
      .filter(({ total }) => total > 0n)
      .sort((a, b) => Number(b.total - a.total) || (a.address < b.address ? 1 : -1))
    expect(richest.length).toBeGreaterThan(2)
    const whole = { above: ['0x', '0x'], below: [`0x${'ff'.repeat(33)}`, '0x'] }
    const all = { order: 'descending', limit: 1_000 } as const
    expect(await read.tokenHolders(tokenId, whole, all)).toEqual(richest)
    const placeOf = (holder: (typeof richest)[number] | undefined) => [
      uint256ToHex(present(holder, 'a holder').total),
      present(holder, 'a holder').address,
    ]
    const part = { above: placeOf(richest.at(-1)), below: placeOf(richest[0]) }
    expect(await read.tokenHolders(tokenId, part, { order: 'ascending', limit: 2 })).toEqual(
      richest.slice(1, -1).reverse().slice(0, 2),
    )
  }
  // The migration alone does not sum up these amounts.
  expect(locked.some((amount) => amount > 0n)).toBe(true)
}

/** Restores the form of a database before the migration that added the states. */
async function forgetMigration(url: string): Promise<void> {
  await onDatabase(
    url,
    `${undoHolders}
    DROP TABLE chain_states;
    DELETE FROM index_keys WHERE kind = 14;
    DROP INDEX "token_balances_tokenId_total_address_idx";
    ALTER TABLE token_balances DROP COLUMN total;
    DELETE FROM _prisma_migrations WHERE migration_name LIKE '%_chain_states'`,
  )
}
