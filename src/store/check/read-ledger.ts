import { resolutions } from '../../ledger/activity-buckets.ts'
import type { AccountId, EpochIndex, SlotIndex } from '../../protocol/primitives.ts'
import { allBuilt, type TriePage } from '../contract/trie.ts'
import { committeeFrom } from '../json-columns.ts'
import type { AccountVersion, Milestone, SlotContents } from '../rows.ts'
import { commitments } from '../sql/bulk-tables.ts'
import type { Writing } from '../sql/statements.ts'
import { versionOf } from '../sql/trie-reads.ts'
import { accountEntries } from '../sql/trie-tables.ts'
import { slotContents } from '../write/book.ts'
import { prunableSlots } from '../write/prune-blocks.ts'

/** Reads of the data that each slot committed to, in order. */
export interface CheckedLedger {
  /** Whether this program commits the slots of the ledger. In upstream mode, nodes commit them, and the database has no epochs. */
  isKeptHere(): Promise<boolean>
  /** Yields the milestones page by page, from the first slot. */
  milestones(): AsyncIterable<readonly Milestone[]>
  /** Reads the contents of a range of slots and the accounts that they changed. Resolves to a function that returns those of one slot. */
  contents(from: SlotIndex, to: SlotIndex): Promise<(slot: SlotIndex) => SlotChanges>
  /** Reads the accounts in the committee of each epoch. */
  committees(): Promise<ReadonlyMap<EpochIndex, readonly AccountId[]>>
  /** Reads the slot of the stored tries. Resolves to `undefined` if they are not complete. */
  builtTries(): Promise<SlotIndex | undefined>
  /** Yields the pages of the stored tries, in descending order of ids. */
  pagesFromLast(): AsyncIterable<readonly TriePage[]>
}

/** Contents of a slot that its commitment covers. */
export interface SlotChanges extends SlotContents {
  readonly accounts: readonly AccountVersion[]
  /** Whether blocks of the slot were pruned: fewer are left than were counted, and none of a transaction is missing. */
  readonly isPruned: boolean
}

export function readLedger(reading: Writing): CheckedLedger {
  const { tx } = reading

  return {
    isKeptHere: async () => (await tx.epoch.count()) > 0,
    milestones: () => milestonePages(reading),
    contents: (from, to) => readContents(reading, from, to),
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
    pagesFromLast: () => triePagesFromLast(reading),
  }
}

async function* milestonePages({ tx }: Writing) {
  for (let after = -1n; ; ) {
    const rows = await tx.commitment.findMany({
      where: { slot: { gt: after } },
      orderBy: { slot: 'asc' },
      take: perPage,
    })
    yield rows.map(commitments.rowFrom)
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.slot
  }
}

async function readContents(
  reading: Writing,
  from: SlotIndex,
  to: SlotIndex,
): Promise<(slot: SlotIndex) => SlotChanges> {
  const versions = await reading.tx.accountVersion.findMany({
    where: { slot: { gte: BigInt(from), lte: BigInt(to) } },
  })
  const all = await slotContents(reading, from, to)
  const blocks = Map.groupBy(all.blocks, ({ slot }) => slot)
  const pruned = await prunedSlots(reading, { from, to }, (slot) => blocks.get(slot)?.length ?? 0)
  const transactions = Map.groupBy(all.transactions, ({ slot }) => slot)
  const created = Map.groupBy(all.created, ({ bookedSlot }) => bookedSlot)
  const spent = Map.groupBy(all.spent, ({ spentSlot }) => spentSlot)
  const accounts = Map.groupBy(
    versions.map((row) => versionOf(accountEntries.rowFrom(row))),
    ({ slot }) => slot,
  )
  return (slot) => ({
    blocks: blocks.get(slot) ?? [],
    transactions: transactions.get(slot) ?? [],
    created: created.get(slot) ?? [],
    spent: spent.get(slot) ?? [],
    accounts: accounts.get(slot) ?? [],
    isPruned: pruned.has(slot),
  })
}

/** The slots of a range of which blocks were pruned. `left` returns the number of blocks that a slot has. */
async function prunedSlots(
  reading: Writing,
  { from, to }: { readonly from: SlotIndex; readonly to: SlotIndex },
  left: (slot: SlotIndex) => number,
): Promise<ReadonlySet<SlotIndex>> {
  const prunable = await prunableSlots(reading)
  const last = Math.min(to, prunable?.to ?? -1)
  if (last < from) return new Set()
  const rows = await reading.tx.activity.findMany({
    where: {
      resolution: resolutions.indexOf('SLOT'),
      bucket: { gte: BigInt(from), lte: BigInt(last) },
    },
    select: { bucket: true, blocks: true },
  })
  const lacking = rows.filter(({ bucket, blocks }) => left(Number(bucket)) < Number(blocks ?? 0))
  if (lacking.length === 0) return new Set()
  const damaged = await slotsWithoutCarrier(reading, from, last)
  return new Set(lacking.map(({ bucket }) => Number(bucket)).filter((slot) => !damaged.has(slot)))
}

/** The slots of a range in which the block of a transaction is missing. Such a block is never pruned. */
async function slotsWithoutCarrier(
  { tx, sql }: Writing,
  from: SlotIndex,
  to: SlotIndex,
): Promise<ReadonlySet<SlotIndex>> {
  const text = `SELECT DISTINCT transactions.slot FROM transactions
    LEFT JOIN blocks ON blocks.id = transactions."blockId"
    WHERE transactions.slot BETWEEN ? AND ? AND blocks.id IS NULL`
  const rows = await tx.$queryRawUnsafe<{ slot: bigint }[]>(sql.numbered(text), from, to)
  return new Set(rows.map(({ slot }) => Number(slot)))
}

async function* triePagesFromLast({ tx, sql }: Writing) {
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

/** Rows in a page. A full slot has thousands of blocks. */
const perPage = 100
