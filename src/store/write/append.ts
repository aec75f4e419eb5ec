import { hash } from 'node:crypto'
import type { OwnedMove, SlotMoves } from '../../ledger/activity.ts'
import { present } from '../../lib/assert.ts'
import { bytesToHex, type Hex } from '../../lib/hex.ts'
import { createLargeMap, type LargeMap } from '../../lib/large-map.ts'
import { createPackedMap } from '../../lib/packed-map.ts'
import { eachInTurns, mapInTurns } from '../../lib/turns.ts'
import { transactionOf } from '../../protocol/ids.ts'
import type { OutputId, TransactionId } from '../../protocol/primitives.ts'
import type { SlotCommit } from '../contract.ts'
import { inChunks } from '../in-chunks.ts'
import type { AddressTip, LedgerUpdate, LogEntries, LogEntry, Milestone } from '../rows.ts'
import { commitments, ledgerUpdates, type RowIn } from '../sql/bulk-tables.ts'
import type { RawWriting, TipKey } from '../sql/statements.ts'
import { numberToClass } from '../values.ts'
import type { TotalAt } from './balances.ts'

/** Appends the entries of some slots to the log after `lastSeq`. Resolves to the changes of outputs per slot. */
export async function appendToLog(writing: RawWriting, growth: LogGrowth): Promise<SlotMoves[]> {
  const { tx, sql } = writing
  const { commits } = growth
  const rows = commits.reduce((sum, { entries }) => sum + entries.length, 0)
  if (rows > 0) await sql.partitions?.createUpTo(tx, growth.lastSeq + rows)
  // The tips of a few entries are read at once, even if the entries are of many slots.
  const shared =
    rows > entriesPerBatch
      ? undefined
      : await readTips(
          writing,
          commits.flatMap(({ entries }) => [...entries]),
        )
  const log = placing(growth)
  const milestones: Milestone[] = []
  const moves: SlotMoves[] = []
  for (const commit of commits) {
    const placed = await log.begin(commit)
    for (const batch of batchesOf(commit.entries)) {
      const tips = shared ?? (await readTips(writing, batch))
      await inChunks(batch, async (some) => {
        const updates = await mapInTurns(some, (entry) => placed.update(entry, tips))
        await sql.insert(tx, ledgerUpdates, updates)
      })
      if (shared === undefined) await putTips(writing, tips)
    }
    const { milestone, moved } = placed.end()
    milestones.push(milestone)
    moves.push(moved)
  }
  await sql.insert(tx, commitments, milestones)
  if (shared !== undefined) await putTips(writing, shared)
  if (rows > 0) await markShards(writing, growth.lastSeq, milestones)
  return moves
}

/** Log entries of a batch; a usual slot has fewer. Batches are written in order, because the tips of a batch are rows of those before it. */
const entriesPerBatch = 4_000

function* batchesOf(entries: Iterable<LogEntry>): Generator<readonly LogEntry[]> {
  let batch: LogEntry[] = []
  for (const entry of entries) {
    batch.push(entry)
    if (batch.length < entriesPerBatch) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Writes the tips of a log in shards. A log in one table has no stored tips. */
async function putTips({ tx, sql: { shards } }: RawWriting, tips: Tips): Promise<void> {
  if (shards?.isOn() !== true) return
  await inChunks([...tips], async (some) => {
    await shards.putTips(
      tx,
      some.map(([key, tip]) => ({ ...keyOfTip(key), ...tip })),
    )
  })
}

/** Marks each shard in the transaction that wrote the rows, so that a marked shard has the rows. */
async function markShards(
  { tx, sql: { shards } }: RawWriting,
  former: number,
  milestones: readonly Milestone[],
): Promise<void> {
  if (shards?.isOn() !== true) return
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
function placing({ lastSeq, totalAt, spenderById }: LogGrowth) {
  let seq = lastSeq

  async function begin({ slot, commitmentId, bytes, entries }: SlotCommit) {
    const firstSeq = seq + 1
    const isLast = await lastOfTransactions(entries, spenderById)
    /** The slot of the row before each row, for the same address and class; -1 for a first row. */
    const formerSlots = new Float64Array(entries.length)
    let at = 0

    /** Returns the row of an entry, and makes it a tip. Call it once per entry, in order. */
    function update(entry: LogEntry, newest: Tips): RowIn<typeof ledgerUpdates> {
      const key = tipKey(entry)
      const known = newest.get(key)
      const former = known ?? noTip
      formerSlots[at] = known?.milestoneIndex ?? -1
      const historyHash = nextHistoryHash(former.historyHash, slot, entry)
      const ordinal = former.ordinal + 1
      newest.set(key, { ordinal, historyHash, milestoneIndex: slot })
      seq++
      return {
        ...entry,
        seq,
        ordinal,
        milestoneIndex: slot,
        historyHash,
        balance: entry.class === 'OWNED' ? totalAt(entry.address, slot) : undefined,
        isLastOfTransaction: isLast[at++] === 1,
      }
    }

    function end(): { readonly milestone: Milestone; readonly moved: SlotMoves } {
      const milestone = { slot, commitmentId, bytes, firstSeq, lastSeq: seq }
      const owned = { [Symbol.iterator]: () => ownedMoves(entries, formerSlots) }
      return { milestone, moved: { slot, updates: entries.length, owned } }
    }

    return { update, end }
  }

  return { begin }
}

function* ownedMoves(entries: LogEntries, formerSlots: Float64Array): Generator<OwnedMove> {
  let at = 0
  for (const { class: updateClass, address, outputId, isSpent } of entries) {
    const former = formerSlots[at++] ?? -1
    if (updateClass !== 'OWNED') continue
    yield { address, outputId, isSpent, formerSlot: former === -1 ? undefined : former }
  }
}

/** Returns 1 for the last entry of each address and class of each transaction. All entries of a transaction are in one slot. */
async function lastOfTransactions(
  entries: LogEntries,
  spenderById: LogGrowth['spenderById'],
): Promise<Uint8Array> {
  const isLast = new Uint8Array(entries.length)
  const lastPlaces = createPackedMap()
  let place = -1
  await eachInTurns(entries, (entry) => {
    place++
    const { outputId, isSpent } = entry
    const transactionId = isSpent ? spenderById.get(outputId) : transactionOf(outputId)
    if (transactionId === undefined) return
    const key = keyInTransaction(transactionId, entry)
    const former = lastPlaces.get(key)
    if (former !== undefined) isLast[Number(former)] = 0
    isLast[place] = 1
    lastPlaces.set(key, BigInt(place))
  })
  return isLast
}

function keyInTransaction(
  transactionId: TransactionId,
  { class: updateClass, address }: TipKey,
): Hex {
  return `${transactionId as Hex}${updateClass === 'OWNED' ? '00' : '01'}${address.slice(2)}`
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
