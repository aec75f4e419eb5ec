import { hash } from 'node:crypto'
import type { OwnedMove, SlotMoves } from '../ledger/activity.ts'
import { present } from '../lib/assert.ts'
import { bytesToHex, type Hex } from '../lib/hex.ts'
import { createLargeMap, type LargeMap } from '../lib/large-map.ts'
import { eachInTurns, mapInTurns } from '../lib/turns.ts'
import { transactionOf } from '../protocol/ids.ts'
import type { OutputId, TransactionId } from '../protocol/primitives.ts'
import type { TotalAt } from './balances.ts'
import type { SlotCommit } from './contract.ts'
import { inChunks } from './in-chunks.ts'
import type { AddressTip, LedgerUpdate, LogEntry, Milestone } from './rows.ts'
import { commitments, ledgerUpdates, type RowIn } from './sql/bulk-tables.ts'
import type { RawWriting, TipKey } from './sql/statements.ts'
import { numberToClass } from './values.ts'

/** Appends the entries of some slots to the log after `lastSeq`. Resolves to the changes of outputs per slot. */
export async function appendToLog(writing: RawWriting, growth: LogGrowth): Promise<SlotMoves[]> {
  const { tx, sql } = writing
  const { commits } = growth
  const [only] = commits
  const entries =
    only !== undefined && commits.length === 1
      ? only.entries
      : commits.flatMap((commit) => commit.entries)
  if (entries.length > 0) await sql.partitions?.createUpTo(tx, growth.lastSeq + entries.length)
  const tips = await readTips(writing, entries)
  const log = placing(growth, tips)
  const milestones: Milestone[] = []
  const moves: SlotMoves[] = []
  for (const commit of commits) {
    const placed = await log.begin(commit)
    // Written in chunks as they are made, because a slot may have any number of entries.
    await inChunks(commit.entries, async (some) => {
      const updates = await mapInTurns(some, placed.update)
      await sql.insert(tx, ledgerUpdates, updates)
    })
    const { milestone, moved } = placed.end()
    milestones.push(milestone)
    moves.push(moved)
  }
  await sql.insert(tx, commitments, milestones)
  if (entries.length > 0) await markShards(writing, growth.lastSeq, { tips, milestones })
  return moves
}

/** Marks each shard in the transaction that wrote the rows, so that a marked shard has the rows. */
async function markShards(
  { tx, sql: { shards } }: RawWriting,
  former: number,
  { tips, milestones }: { readonly tips: Tips; readonly milestones: readonly Milestone[] },
): Promise<void> {
  if (shards?.isOn() !== true) return
  await inChunks([...tips], async (some) => {
    await shards.putTips(
      tx,
      some.map(([key, tip]) => ({ ...keyOfTip(key), ...tip })),
    )
  })
  await shards.mark(tx, former, present(milestones.at(-1), 'a slot').lastSeq)
}

/** Slots to append to the log. */
export interface LogGrowth {
  /** Last position of the log before these slots. */
  readonly lastSeq: number
  readonly commits: readonly SlotCommit[]
  /** Returns the base tokens of an address at the end of a slot. */
  readonly totalAt: TotalAt
  /** The spending transactions of outputs that these slots spend; `undefined` if the upstream node did not report one. */
  readonly spenderById: Pick<ReadonlyMap<OutputId, TransactionId | undefined>, 'get'>
}

/** The newest row of each address and class, by `tipKey`. */
export type Tips = LargeMap<string, AddressTip & Pick<LedgerUpdate, 'milestoneIndex'>>

/** Reads the current tips of the addresses and classes of some rows. An address and class without rows has no tip. */
export async function readTips({ tx, sql }: RawWriting, joining: readonly TipKey[]): Promise<Tips> {
  const keys = createLargeMap<string, TipKey>()
  await inChunks(joining, async (some) => {
    for (const row of some) keys.set(tipKey(row), row)
  })
  const tips: Tips = createLargeMap()
  await inChunks([...keys.values()], async (some) => {
    const found = await (sql.shards?.isOn() === true ? sql.shards : sql).tips(tx, some)
    await eachInTurns(found, (row) => {
      tips.set(tipKey({ address: bytesToHex(row.address), class: numberToClass(row.class) }), {
        ordinal: Number(row.ordinal),
        historyHash: bytesToHex(row.historyHash),
        milestoneIndex: Number(row.milestoneIndex),
      })
    })
  })
  return tips
}

/** Returns the map key of an address and class. */
export function tipKey(row: TipKey): string {
  return row.class + row.address
}

function keyOfTip(key: string): TipKey {
  const at = key.indexOf('0x')
  return {
    class: key.slice(0, at) === 'OWNED' ? 'OWNED' : 'MENTIONED',
    address: `0x${key.slice(at + 2)}`,
  }
}

/** Assigns each entry its position, its ordinal and its history hash, and each slot its range. */
function placing({ lastSeq, totalAt, spenderById }: LogGrowth, newest: Tips) {
  let seq = lastSeq

  async function begin({ slot, commitmentId, bytes, entries }: SlotCommit) {
    const firstSeq = seq + 1
    const owned: OwnedMove[] = []
    const isLast = await lastOfTransactions(entries, spenderById)
    let at = 0

    /** Returns the row of an entry. Call it once per entry, in order. */
    function update(entry: LogEntry): RowIn<typeof ledgerUpdates> {
      const known = newest.get(tipKey(entry))
      const former = known ?? noTip
      const { address, outputId, isSpent } = entry
      if (entry.class === 'OWNED') {
        owned.push({ address, outputId, isSpent, formerSlot: known?.milestoneIndex })
      }
      const historyHash = nextHistoryHash(former.historyHash, slot, entry)
      const ordinal = former.ordinal + 1
      newest.set(tipKey(entry), { ordinal, historyHash, milestoneIndex: slot })
      seq++
      return {
        ...entry,
        seq,
        ordinal,
        milestoneIndex: slot,
        historyHash,
        balance: entry.class === 'OWNED' ? totalAt(address, slot) : undefined,
        isLastOfTransaction: isLast[at++] === 1,
      }
    }

    function end(): { readonly milestone: Milestone; readonly moved: SlotMoves } {
      const milestone = { slot, commitmentId, bytes, firstSeq, lastSeq: seq }
      return { milestone, moved: { slot, updates: entries.length, owned } }
    }

    return { update, end }
  }

  return { begin }
}

/** Returns 1 for the last entry of each address and class of each transaction. All entries of a transaction are in one slot. */
async function lastOfTransactions(
  entries: readonly LogEntry[],
  spenderById: LogGrowth['spenderById'],
): Promise<Uint8Array> {
  const places = createLargeMap<TransactionId, number[]>()
  let place = 0
  await eachInTurns(entries, ({ outputId, isSpent }) => {
    const transactionId = isSpent ? spenderById.get(outputId) : transactionOf(outputId)
    const known = transactionId && places.get(transactionId)
    if (known !== undefined) known.push(place)
    else if (transactionId !== undefined) places.set(transactionId, [place])
    place++
  })
  const isLast = new Uint8Array(entries.length)
  await eachInTurns(places.values(), (made) => {
    const lastByKey = new Map(made.map((at) => [tipKey(present(entries[at], 'an entry')), at]))
    for (const at of lastByKey.values()) isLast[at] = 1
  })
  return isLast
}

/** The tip of an address and class without rows. */
export const noTip: AddressTip = { ordinal: 0, historyHash: `0x${'00'.repeat(32)}` }

/** SHA-256 over the previous hash, the slot as u32, the output id and whether the output was spent (design: one idea). */
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

/** A shared buffer: `nextHistoryHash` runs up to 10,000 times per slot and avoids allocations. */
const link = Buffer.alloc(75)
