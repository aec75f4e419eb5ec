import { hash } from 'node:crypto'
import type { OwnedMove, SlotMoves } from '../ledger/activity.ts'
import { bytesToHex, type Hex } from '../lib/hex.ts'
import { passTurn } from '../lib/turns.ts'
import { transactionOf } from '../protocol/ids.ts'
import type { OutputId, TransactionId } from '../protocol/primitives.ts'
import type { SpentLife, TotalAt } from './balances.ts'
import type { SlotCommit } from './contract.ts'
import { inChunks } from './in-chunks.ts'
import type { AddressTip, LedgerUpdate, LogEntry, Milestone } from './rows.ts'
import { commitments, ledgerUpdates, type RowIn } from './sql/bulk-tables.ts'
import type { TipKey, Writing } from './sql/statements.ts'
import { numberToClass } from './values.ts'

/** Gives the entries of some slots their positions in the log after `lastSeq`, and writes all; gives what they move. */
export async function appendToLog(writing: Writing, growth: LogGrowth): Promise<SlotMoves[]> {
  const { tx, sql } = writing
  const entries = growth.commits.flatMap((commit) => commit.entries)
  const tips = await readTips(writing, entries)
  const { updates, milestones, moves } = await placeEntries(growth, tips)
  await inChunks(updates, (some) => sql.insert(tx, ledgerUpdates, some))
  await sql.insert(tx, commitments, milestones)
  return moves
}

/** Slots that join the log. */
export interface LogGrowth {
  /** The last position of the log before them. */
  readonly lastSeq: number
  readonly commits: readonly SlotCommit[]
  /** The base tokens that an owner of this slot has at its end. */
  readonly totalAt: TotalAt
  /** What these slots spent, by what. */
  readonly spent: readonly Pick<SpentLife, 'outputId' | 'spentBy'>[]
}

/** The newest row of each address and class, by `tipKey`. */
export type Tips = ReadonlyMap<string, AddressTip & Pick<LedgerUpdate, 'milestoneIndex'>>

/** The tips that some rows join, as the log is now; an address and class without rows has none. */
export async function readTips({ tx, sql }: Writing, joining: readonly TipKey[]): Promise<Tips> {
  const keys = new Map<string, TipKey>()
  await inChunks(joining, async (some) => {
    for (const row of some) keys.set(tipKey(row), row)
  })
  const tips = new Map<string, AddressTip & Pick<LedgerUpdate, 'milestoneIndex'>>()
  await inChunks([...keys.values()], async (some) => {
    for (const row of await sql.tips(tx, some)) {
      tips.set(tipKey({ address: bytesToHex(row.address), class: numberToClass(row.class) }), {
        ordinal: Number(row.ordinal),
        historyHash: bytesToHex(row.historyHash),
        milestoneIndex: Number(row.milestoneIndex),
      })
    }
  })
  return tips
}

/** An address and class as the key of a map. */
export function tipKey(row: TipKey): string {
  return row.class + row.address
}

/** Every entry with its position, its ordinal and its history hash; every slot with its range. */
async function placeEntries({ lastSeq, commits, totalAt, spent }: LogGrowth, tips: Tips) {
  const newest = new Map(tips)
  const spenders = new Map(spent.map(({ outputId, spentBy }) => [outputId, spentBy]))
  const updates: RowIn<typeof ledgerUpdates>[] = []
  const moves: SlotMoves[] = []
  const milestones: Milestone[] = []
  for (const { slot, commitmentId, bytes, entries } of commits) {
    const firstSeq = lastSeq + updates.length + 1
    const owned: OwnedMove[] = []
    moves.push({ slot, updates: entries.length, owned })
    const last = await lastOfTransactions(entries, spenders)
    for (const entry of entries) {
      const known = newest.get(tipKey(entry))
      const former = known ?? noTip
      const { address, outputId, isSpent } = entry
      if (entry.class === 'OWNED') {
        owned.push({ address, outputId, isSpent, formerSlot: known?.milestoneIndex })
      }
      const historyHash = nextHistoryHash(former.historyHash, slot, entry)
      const ordinal = former.ordinal + 1
      newest.set(tipKey(entry), { ordinal, historyHash, milestoneIndex: slot })
      const seq = lastSeq + updates.length + 1
      updates.push({
        ...entry,
        seq,
        ordinal,
        milestoneIndex: slot,
        historyHash,
        balance: entry.class === 'OWNED' ? totalAt(entry.address, slot) : undefined,
        isLastOfTransaction: last.has(entry),
      })
      if (updates.length % entriesPerTurn === 0) await passTurn()
    }
    milestones.push({ slot, commitmentId, bytes, firstSeq, lastSeq: lastSeq + updates.length })
  }
  return { updates, milestones, moves }
}

/** So many take a millisecond or two. */
const entriesPerTurn = 256

/** Of each transaction the last entry of each address and class. A transaction makes all of its entries in one slot. */
async function lastOfTransactions(
  entries: readonly LogEntry[],
  spenders: ReadonlyMap<OutputId, TransactionId | undefined>,
): Promise<ReadonlySet<LogEntry>> {
  const lastByKey = new Map<string, LogEntry>()
  await inChunks(entries, async (some) => {
    for (const entry of some) {
      const { outputId, isSpent } = entry
      const transactionId = isSpent ? spenders.get(outputId) : transactionOf(outputId)
      if (transactionId !== undefined) lastByKey.set(tipKey(entry) + transactionId, entry)
    }
  })
  return new Set(lastByKey.values())
}

/** The tip of an address and class before their first row. */
export const noTip: AddressTip = { ordinal: 0, historyHash: `0x${'00'.repeat(32)}` }

/** SHA-256 over the former value, the slot as u32, the output id and whether it was spent (design: one idea). */
export function nextHistoryHash(
  former: Hex,
  slot: number,
  entry: Pick<LogEntry, 'outputId' | 'isSpent'>,
): Hex {
  link.write(former.slice(2), 0, 'hex')
  link.writeUInt32LE(slot, 32)
  link.write(entry.outputId.slice(2), 36, 'hex')
  link.writeUInt8(entry.isSpent ? 1 : 0, 74)
  return `0x${hash('sha256', link)}`
}

/** Runs for every row, 10,000 times a slot, so it allocates little. */
const link = Buffer.alloc(75)
