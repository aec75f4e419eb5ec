import { describe, expect, test } from 'vitest'
import type { Hex } from '../../../src/lib/hex.ts'
import type { AccountId, OutputId, SlotIndex } from '../../../src/protocol/primitives.ts'
import type { AccountAt } from '../../../src/store/contract/ledger-snapshot.ts'
import type { PrunedTip } from '../../../src/store/rows.ts'
import { databases, useStore } from '../../support/databases.ts'
import {
  accountVersion,
  addressOf,
  booking,
  createdOutput,
  entry,
  outputIdOf,
  slotCommit,
  testGenesis,
  transactionIdOf,
} from '../../support/store-rows.ts'

/** Reads the ledger at the end of slot 1, before and after slot 2 spends outputs, creates an output and changes accounts. */

const numbers = Array.from({ length: 1_200 }, (_, i) => i + 1)
const created = numbers.map((n) => createdOutput(n))

describe.each(databases)('the ledger of a former slot on $name', ({ create }) => {
  const use = useStore(create)

  async function commitFirst(): Promise<void> {
    const { write } = use.store
    await write.initialize(use.term, testGenesis())
    await write.book(use.term, booking({ created }))
    await write.closeSlots(use.term, 1)
    const entries = [...numbers.map((n) => entry(n, n)), entry(1, 2, { class: 'MENTIONED' })]
    const accounts = [accountVersion(1, 1, { credits: 5n }), accountVersion(2, 1)]
    await write.commitSlots(use.term, [slotCommit(1, entries, { accounts })])
  }

  async function commitSecond(): Promise<void> {
    const { write } = use.store
    const spent = [1, 600, 1_200].map((n) => {
      return { outputId: outputIdOf(n), spentSlot: 2, spentBy: transactionIdOf(9) }
    })
    const more = [createdOutput(2_000, { bookedSlot: 2 })]
    await write.book(use.term, booking({ created: more, spent }))
    // This output is booked, and not committed.
    await write.book(use.term, booking({ created: [createdOutput(3_000, { bookedSlot: 3 })] }))
    await write.closeSlots(use.term, 2)
    const entries = [entry(1, 1, { isSpent: true }), entry(5_000, 2_000)]
    const accounts = [
      accountVersion(1, 2, { credits: 9n }),
      { ...accountVersion(2, 2), entry: undefined },
      accountVersion(3, 2),
    ]
    await write.commitSlots(use.term, [slotCommit(2, entries, { accounts })])
  }

  async function readAll() {
    const { read } = use.store
    const { lastSeq: seq } = (await read.milestone(1)) ?? { lastSeq: 0 }
    const outputs: { outputId: OutputId; bytes: Uint8Array }[] = []
    for (;;) {
      const page = await read.outputsAt(1, outputs.at(-1)?.outputId)
      if (page.length === 0) break
      outputs.push(...page.map(({ outputId, bytes }) => ({ outputId, bytes })))
    }
    const tips: PrunedTip[] = []
    for (let after: Hex | undefined; ; ) {
      const page = await read.tipsAt(seq, after)
      if (page === undefined) break
      tips.push(...page.tips)
      after = page.last
    }
    return { outputs, tips, accounts: await accountsAt(1) }
  }

  async function accountsAt(slot: SlotIndex): Promise<AccountAt[]> {
    const accounts: AccountAt[] = []
    for (let after: AccountId | undefined; ; ) {
      const page = await use.store.read.accountsAt(slot, after)
      if (page === undefined) return accounts
      accounts.push(...page.accounts)
      after = page.last
    }
  }

  test('is the same after a later slot, page by page', async () => {
    await commitFirst()
    const before = await readAll()
    expect(before.outputs.map(({ outputId }) => outputId)).toEqual(
      [0, ...numbers].map(outputIdOf).sort(),
    )
    expect(before.tips).toHaveLength(1_202)
    expect(before.tips.filter(({ address }) => address === addressOf(1))).toMatchObject([
      { class: 'OWNED', ordinal: 1, milestoneIndex: 1, balance: 1_001n },
      { class: 'MENTIONED', ordinal: 1, milestoneIndex: 1 },
    ])
    expect(before.accounts.map(({ entry: { credits } }) => credits).sort()).toEqual(
      [-(2n ** 60n), -(2n ** 60n), 5n].sort(),
    )
    await commitSecond()
    const after = await readAll()
    expect(after).toEqual(before)
  })

  test('has its accounts in pages, even if later slots change or destroy them', async () => {
    const { write } = use.store
    await write.initialize(use.term, testGenesis({ accounts: [] }))
    await write.closeSlots(use.term, 3)
    const all = numbers.slice(0, 250)
    const byId = all.map((n) => accountVersion(n, 1)).sort(byAccountId)
    // Destroys a whole page of accounts, and the first one of the last page.
    const destroyed = [...byId.slice(100, 200), ...byId.slice(200, 201)]
    await write.commitSlots(use.term, [
      slotCommit(1, [], { accounts: byId }),
      slotCommit(2, [], { accounts: all.map((n) => accountVersion(n, 2, { credits: 7n })) }),
      slotCommit(3, [], {
        accounts: destroyed.map(({ accountId }) => ({ accountId, slot: 3, entry: undefined })),
      }),
    ])
    const idsOf = (accounts: readonly AccountAt[]) => accounts.map(({ accountId }) => accountId)
    expect(await accountsAt(0)).toEqual([])
    expect(await accountsAt(1)).toEqual(byId.map(({ accountId, entry }) => ({ accountId, entry })))
    const second = await accountsAt(2)
    expect(idsOf(second)).toEqual(idsOf(byId))
    expect(new Set(second.map(({ entry }) => entry.credits))).toEqual(new Set([7n]))
    const left = [...byId.slice(0, 100), ...byId.slice(201)]
    expect(idsOf(await accountsAt(3))).toEqual(left.map(({ accountId }) => accountId))
  })

  test('has the tips of later slots when the log is pruned beyond it', async () => {
    await commitFirst()
    await commitSecond()
    await use.store.write.pruneLog({ milestones: 0, rows: 10_000 })
    const { tips } = await readAll()
    expect(tips.filter(({ milestoneIndex }) => milestoneIndex > 1)).toHaveLength(2)
  })
})

function byAccountId(a: { readonly accountId: AccountId }, b: { readonly accountId: AccountId }) {
  return a.accountId < b.accountId ? -1 : 1
}
