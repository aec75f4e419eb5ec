import { grouped } from '../../lib/grouped.ts'
import type { AccountId, EpochIndex, SlotIndex } from '../../protocol/primitives.ts'
import { slotContents } from '../book.ts'
import { committeeFrom } from '../json-columns.ts'
import { toAccountVersion, toMilestone } from '../mapping.ts'
import type { AccountVersion, Milestone, SlotContents } from '../rows.ts'
import type { Writing } from '../sql/statements.ts'
import { allBuilt, type TriePage } from '../trie-contract.ts'

/** What every slot committed to, read in order. */
export interface CheckedLedger {
  /** Whether this program keeps the ledger; nodes keep it where there are no epochs. */
  isKeptHere(): Promise<boolean>
  /** Page by page, from the first slot. */
  milestones(): AsyncIterable<readonly Milestone[]>
  /** What was booked in a range of slots, and the accounts that they changed, by slot. */
  contents(from: SlotIndex, to: SlotIndex): Promise<(slot: SlotIndex) => SlotChanges>
  /** The accounts in the committee of each epoch. */
  committees(): Promise<ReadonlyMap<EpochIndex, readonly AccountId[]>>
  /** The slot that the kept tries are of; `undefined` where they are not whole. */
  builtTries(): Promise<SlotIndex | undefined>
  /** The pages of the kept tries, those with the greatest ids first. */
  pagesFromLast(): AsyncIterable<readonly TriePage[]>
}

/** What a slot did, as far as its commitment says. */
export interface SlotChanges extends SlotContents {
  readonly accounts: readonly AccountVersion[]
}

/** Reads a ledger for a check. */
export function readLedger(reading: Writing): CheckedLedger {
  const { tx, sql } = reading

  async function* milestones() {
    for (let after = -1n; ; ) {
      const rows = await tx.commitment.findMany({
        where: { slot: { gt: after } },
        orderBy: { slot: 'asc' },
        take: perPage,
      })
      yield rows.map(toMilestone)
      const last = rows.at(-1)
      if (last === undefined) return
      after = last.slot
    }
  }

  async function* pagesFromLast() {
    const text = `SELECT id, bytes FROM trie_pages WHERE id < ? ORDER BY id DESC LIMIT ${perPage}`
    for (let before = BigInt(Number.MAX_SAFE_INTEGER); ; ) {
      const rows = await tx.$queryRawUnsafe<{ id: bigint; bytes: Uint8Array }[]>(
        sql.numbered(text),
        before,
      )
      yield rows.map(({ id, bytes }) => ({ id: Number(id), bytes }))
      const last = rows.at(-1)
      if (last === undefined) return
      before = BigInt(last.id)
    }
  }

  return {
    isKeptHere: async () => (await tx.epoch.count()) > 0,
    milestones,
    contents: async (from, to) => {
      const versions = await tx.accountVersion.findMany({
        where: { slot: { gte: BigInt(from), lte: BigInt(to) } },
      })
      const all = await slotContents(reading, from, to)
      const blocks = grouped(all.blocks, ({ slot }) => slot)
      const transactions = grouped(all.transactions, ({ slot }) => slot)
      const created = grouped(all.created, ({ bookedSlot }) => bookedSlot)
      const spent = grouped(all.spent, ({ spentSlot }) => spentSlot)
      const accounts = grouped(versions.map(toAccountVersion), ({ slot }) => slot)
      return (slot) => ({
        blocks: blocks.get(slot) ?? [],
        transactions: transactions.get(slot) ?? [],
        created: created.get(slot) ?? [],
        spent: spent.get(slot) ?? [],
        accounts: accounts.get(slot) ?? [],
      })
    },
    committees: async () => {
      const rows = await tx.epoch.findMany()
      return new Map(
        rows.map(({ epoch, committee }) => {
          const seats = committeeFrom(committee)
          return [Number(epoch), seats.map(({ accountId }) => accountId)]
        }),
      )
    },
    builtTries: async () => {
      const state = await tx.trieState.findUnique({ where: { id: 1n } })
      return Number(state?.built) === allBuilt ? Number(state?.slot) : undefined
    },
    pagesFromLast,
  }
}

/** Full slots are thousands of blocks each. */
const perPage = 100
