import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStakers, type Stakers } from '../../src/service/accounts/stakers.ts'
import type { Store } from '../../src/store/contract.ts'
import type { AccountVersion } from '../../src/store/rows.ts'
import { databases, openedStore, type TestDatabase, takenLease } from '../support/databases.ts'
import { accountVersion, slotCommit, testGenesis, testId } from '../support/store-rows.ts'

describe.each(databases)("staking accounts on '$name'", ({ create }) => {
  let database: TestDatabase
  let store: Store
  let term: number
  beforeAll(async () => {
    database = await create()
    store = await openedStore(database.url)
    term = await takenLease(store)
    await store.write.initialize(term, testGenesis())
  })
  afterAll(async () => {
    await store.close()
    await database.remove()
  })

  const newest = async ({ at }: Stakers) => at((await store.read.latestMilestone()).slot)

  async function commit(slot: number, accounts: readonly AccountVersion[]): Promise<void> {
    await store.write.closeSlots(term, slot)
    const committed = await store.write.commitSlots(term, [slotCommit(slot, [], { accounts })])
    expect(committed.ok).toBe(true)
  }

  /** Creates stakers that count how often they read all accounts. */
  function countingStakers(changes: Partial<Pick<Store['read'], 'milestone'>> = {}) {
    const { read } = store
    let count = 0
    const stakers = createStakers({
      ...read,
      ...changes,
      accountsAt: (at, after) => {
        if (after === undefined) count++
        return read.accountsAt(at, after)
      },
    })
    return { stakers, reads: () => count }
  }

  test('are read once per slot, and again after a failed read', async () => {
    const { read } = store
    let reads = 0
    const stakers = createStakers({
      ...read,
      accountsAt: (slot, after) =>
        reads++ === 0 ? Promise.reject(new Error('away')) : read.accountsAt(slot, after),
    })
    await expect(Promise.all([newest(stakers), newest(stakers)])).rejects.toThrow('away')
    expect(reads).toBe(1)
    for (let i = 0; i < 2; i++) expect(await newest(stakers)).toEqual([])
    // One page with the accounts of the genesis, and an empty page that ends the list.
    expect(reads).toBe(3)
  })

  test('are all read once, and then only the changes of slots', async () => {
    const { read } = store
    const reads: string[] = []
    const stakers = createStakers({
      ...read,
      accountsAt: (slot, after) => {
        if (after === undefined) reads.push(`all at ${slot}`)
        return read.accountsAt(slot, after)
      },
      accountVersions: (slots, behind) => {
        if (behind === undefined) reads.push(`after ${slots.after}`)
        return read.accountVersions(slots, behind)
      },
    })
    const stake = (n: number, slot: number, validatorStake: bigint) =>
      accountVersion(n, slot, { validatorStake })
    const gone = { accountId: testId('AccountId', 32, 2), slot: 4, entry: undefined } as const
    const slots = [
      [stake(1, 1, 5n), stake(2, 1, 6n), accountVersion(3, 1)],
      [stake(1, 2, 7n)],
      [],
      [gone, stake(3, 4, 1n)],
      [stake(3, 5, 0n)],
    ]
    for (const [i, accounts] of slots.entries()) {
      await commit(i + 1, accounts)
      const fresh = await newest(createStakers(read))
      // Some calls are two slots apart.
      if (i !== 2) expect(await newest(stakers)).toEqual(fresh)
    }
    expect((await newest(stakers)).map(({ validatorStake }) => validatorStake)).toEqual([7n])
    expect(reads).toEqual(['all at 1', 'after 1', 'after 2', 'after 4'])
  })

  test('are also cached for the slot before the newest one', async () => {
    const { read } = store
    const { slot } = await read.latestMilestone()
    const { stakers, reads } = countingStakers()
    const stakeAt = async (at: number) => {
      const all = await stakers.at(at)
      return all.map(({ validatorStake }) => validatorStake)
    }
    await commit(slot + 1, [accountVersion(1, slot + 1, { validatorStake: 5n })])
    const former = await stakeAt(slot + 1)
    await commit(slot + 2, [accountVersion(1, slot + 2, { validatorStake: 6n })])
    const newer = await stakeAt(slot + 2)
    expect([former, newer]).toEqual([[5n], [6n]])
    expect(await Promise.all([slot + 1, slot + 2].map(stakeAt))).toEqual([[5n], [6n]])
    expect(reads()).toBe(1)
    // For an uncached slot they are read once for concurrent calls.
    expect(await Promise.all([slot, slot].map(stakeAt))).toEqual([[7n], [7n]])
    expect(reads()).toBe(2)
  })

  test('are all read again after more changes than accounts', async () => {
    const { read } = store
    const { slot } = await read.latestMilestone()
    const { stakers, reads } = countingStakers()
    const stakesIn = (at: number, count: number) =>
      Array.from({ length: count }, (_, n) =>
        accountVersion(1_000 + n, at, { validatorStake: BigInt((at * n) % 50) }),
      )
    // More than a page of changes, and as many as there are accounts: 600 of these and 3 earlier ones.
    await commit(slot + 1, stakesIn(slot + 1, 600))
    await newest(stakers)
    await commit(slot + 2, stakesIn(slot + 2, 600))
    await commit(slot + 3, stakesIn(slot + 3, 3))
    expect(await newest(stakers)).toEqual(await newest(createStakers(read)))
    expect(reads()).toBe(1)
    await commit(slot + 4, stakesIn(slot + 4, 600))
    await commit(slot + 5, stakesIn(slot + 5, 4))
    expect(await newest(stakers)).toEqual(await newest(createStakers(read)))
    expect(reads()).toBe(2)
  })

  test('are all read again if the database holds another history', async () => {
    const { read } = store
    const { slot } = await read.latestMilestone()
    let isAnother = false
    const { stakers, reads } = countingStakers({
      milestone: async (at) => {
        const kept = await read.milestone(at)
        return (
          kept && (isAnother ? { ...kept, commitmentId: testId('CommitmentId', 36, 99) } : kept)
        )
      },
    })
    await newest(stakers)
    await commit(slot + 1, [])
    await newest(stakers)
    expect(reads()).toBe(1)
    isAnother = true
    await commit(slot + 2, [])
    await newest(stakers)
    expect(reads()).toBe(2)
  })

  test('are read again for a slot that the database holds of another history', async () => {
    const { read } = store
    let isAnother = false
    const stakers = createStakers({
      ...read,
      milestone: async (at) => {
        const kept = await read.milestone(at)
        return (
          kept && (isAnother ? { ...kept, commitmentId: testId('CommitmentId', 36, 99) } : kept)
        )
      },
      accountsAt: async (at, after) => (isAnother ? undefined : await read.accountsAt(at, after)),
    })
    const own = await newest(stakers)
    expect(own).not.toEqual([])
    isAnother = true
    expect(await newest(stakers)).toEqual([])
    isAnother = false
    expect(await newest(stakers)).toEqual(own)
  })
})
