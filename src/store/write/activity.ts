import {
  type ActivityBucket,
  activityOfSlot,
  type MovedOutputs,
  type SlotBlockCounts,
  type SlotMoves,
  sumActivity,
} from '../../ledger/activity.ts'
import { carrierFailures } from '../../ledger/failure-reasons.ts'
import { present } from '../../lib/assert.ts'
import { inTurns } from '../../lib/turns.ts'
import { SlotCommitment } from '../../protocol/commitment.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import { decodeStored } from '../../protocol/stored.ts'
import { inChunks } from '../in-chunks.ts'
import * as table from '../sql/bulk-tables.ts'
import { isAccepted } from '../sql/slot-outputs.ts'
import type { RawWriting } from '../sql/statements.ts'

type ActivityRow = table.RowIn<typeof table.activity>

/** Counts the activity in spans of time, in the transaction that commits a slot. */

/** The slots of this transaction, with their changes of outputs. */
export interface CommittedMoves extends MovedOutputs {
  readonly moves: readonly SlotMoves[]
  /** Change of the number of unspent outputs by kind. */
  readonly countByKind: ReadonlyMap<number, number>
  readonly isGenesis: boolean
}

/** Adds some slots to the activity of their spans, and to the counts of unspent outputs. */
export async function countSlots(
  writing: RawWriting,
  parameters: ProtocolParameters,
  { moves, amountById, spenderById, countByKind, isGenesis }: CommittedMoves,
): Promise<void> {
  await addActivity(writing, parameters, {
    moves,
    outputs: { amountById, spenderById },
    genesis: isGenesis ? moves[0]?.slot : undefined,
  })
  const rows = [...countByKind].map(([kind, outputs]) => ({ kind, outputs }))
  if (rows.length > 0) await writing.sql.add(writing.tx, table.outputCounts, rows)
}

/** Consecutive slots to be counted. `genesis` is the first slot of the ledger, if it is known to be among them. */
export interface SlotsToCount {
  readonly moves: readonly SlotMoves[]
  readonly outputs: MovedOutputs
  readonly genesis: SlotIndex | undefined
}

/** Adds slots to the activity of their spans, except spans that `mayCount` rejects. */
export async function addActivity(
  writing: RawWriting,
  parameters: ProtocolParameters,
  slots: SlotsToCount,
  mayCount: (bucket: ActivityBucket) => boolean = () => true,
): Promise<void> {
  const parts = await activityOfSlots(writing, parameters, slots)
  const rows = parts.filter(mayCount).map(activityRow)
  await inChunks(rows, (some) => writing.sql.add(writing.tx, table.activity, some))
}

/** Returns the activity that slots add to each of their spans, without writing it. */
export async function activityOfSlots(
  reading: RawWriting,
  parameters: ProtocolParameters,
  { moves, outputs, genesis }: SlotsToCount,
): Promise<ActivityBucket[]> {
  const countsOf = await blockCounts(reading, parameters, moves)
  const parts: ActivityBucket[] = []
  for (const one of moves) {
    const known = { ...outputs, counts: countsOf(one.slot), isGenesis: one.slot === genesis }
    parts.push(...(await inTurns(activityOfSlot(parameters, one, known))))
  }
  return sumActivity(parts)
}

/** Amounts are stored as a quotient and a remainder of this unit, because sums of many slots may exceed the 63 bits of a column. */
const unit = 10n ** 12n

function activityRow({ moved, burned, ...counts }: ActivityBucket): ActivityRow {
  const high = (sum: bigint | undefined) => (sum === undefined ? undefined : Number(sum / unit))
  const low = (sum: bigint | undefined) => (sum === undefined ? undefined : Number(sum % unit))
  return {
    ...counts,
    movedHigh: high(moved),
    movedLow: low(moved),
    burnedHigh: high(burned),
    burnedLow: low(burned),
  }
}

export function activityOfRow({
  movedHigh,
  movedLow,
  burnedHigh,
  burnedLow,
  ...counts
}: ReturnType<typeof table.activity.rowOf>): ActivityBucket {
  return {
    ...counts,
    moved: amountOf(movedHigh, movedLow),
    burned: amountOf(burnedHigh, burnedLow),
  }
}

function amountOf(high: number | undefined, low: number | undefined): bigint | undefined {
  return high === undefined || low === undefined ? undefined : BigInt(high) * unit + BigInt(low)
}

/** The columns of the statement below. The driver returns integers as numbers or as bigints. */
interface BlockCountRow {
  readonly slot: bigint
  readonly price: Uint8Array | null
  readonly blocks: bigint
  readonly bytes: bigint
  readonly work: bigint
  readonly failed: bigint
  readonly known: bigint
}

/**
 * Returns the counts of the blocks of some committed slots. Transactions that failed because of their carriers are not counted, because
 * another carrier may still be accepted. In upstream mode, which stores no epochs, the blocks are unknown.
 */
async function blockCounts(
  { tx, sql }: RawWriting,
  parameters: ProtocolParameters,
  moves: readonly SlotMoves[],
): Promise<(slot: SlotIndex) => SlotBlockCounts> {
  const ends = [moves[0]?.slot ?? 0, moves.at(-1)?.slot ?? 0]
  const [first, last] = [BigInt(Math.min(...ends)), BigInt(Math.max(...ends))]
  const { maxCommittableAge: age, genesisSlot: genesis } = parameters
  const text = `SELECT committed.slot, priced.bytes AS price,
      coalesce(blocks.count, 0) AS blocks, coalesce(blocks.bytes, 0) AS bytes,
      coalesce(blocks.work, 0) AS work, coalesce(failures.count, 0) AS failed,
      (SELECT count(*) FROM (SELECT 1 FROM epochs LIMIT 1) AS epoch) AS known
    FROM commitments AS committed
    LEFT JOIN commitments AS priced ON priced.slot =
      CASE WHEN committed.slot < ${genesis + age} THEN ${genesis} ELSE committed.slot - ${age} END
    LEFT JOIN (SELECT slot, count(*) AS count, CAST(sum(length(bytes)) AS BIGINT) AS bytes,
        CAST(sum("workScore") AS BIGINT) AS work
      FROM blocks WHERE slot BETWEEN ? AND ? AND ${isAccepted}
      GROUP BY slot) AS blocks ON blocks.slot = committed.slot
    LEFT JOIN (SELECT slot, count(*) AS count FROM transactions
      WHERE slot BETWEEN ? AND ? AND state = 'FAILED'
        AND coalesce("failureReason", 0) NOT IN (${carrierFailures.join(', ')})
      GROUP BY slot) AS failures ON failures.slot = committed.slot
    WHERE committed.slot BETWEEN ? AND ?`
  const bounds = [first, last, first, last, first, last] as const
  const rows = await tx.$queryRawUnsafe<BlockCountRow[]>(sql.numbered(text), ...bounds)
  const counts = new Map(rows.map((row) => [Number(row.slot), countsOfRow(row)]))
  return (slot) => counts.get(slot) ?? unknownCounts
}

const unknownCounts: SlotBlockCounts = {
  blocks: undefined,
  blockBytes: undefined,
  failed: undefined,
  burned: undefined,
}

function countsOfRow({
  price,
  blocks,
  bytes,
  work,
  failed,
  known,
}: BlockCountRow): SlotBlockCounts {
  if (Number(known) === 0) return unknownCounts
  return {
    blocks: Number(blocks),
    blockBytes: Number(bytes),
    failed: Number(failed),
    burned: Number(work) === 0 ? 0n : BigInt(work) * priceIn(present(price, 'a former commitment')),
  }
}

function priceIn(bytes: Uint8Array): bigint {
  return decodeStored(SlotCommitment, bytes).referenceManaCost
}
