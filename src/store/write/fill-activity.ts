import type { ActivityBucket, OwnedMove, SlotMoves } from '../../ledger/activity.ts'
import {
  bucketOfSlot,
  firstSlotOfBucket,
  type Resolution,
  resolutions,
} from '../../ledger/activity-buckets.ts'
import { present } from '../../lib/assert.ts'
import { bytesToHex } from '../../lib/hex.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import type { OutputId, SlotIndex, TransactionId } from '../../protocol/primitives.ts'
import type { BlocksPruned, FillRequest, FillResult } from '../contract/fill.ts'
import type { LeaseTerm } from '../contract/lease.ts'
import { scanOfAddress } from '../sql/log-scans.ts'
import { shardedDialect } from '../sql/postgresql/sharded-log.ts'
import { isAccepted } from '../sql/slot-outputs.ts'
import type { Writing } from '../sql/statements.ts'
import { idFromBytes } from '../values.ts'
import { addActivity, type SlotsToCount } from './activity.ts'
import { networkParameters } from './network-parameters.ts'
import { decodedOutput } from './output-index.ts'
import { prunedSeqOf } from './prune.ts'

/**
 * Counts the activity of slots that were committed before this program counted it, or counts it again, from the log and the tables
 * beside it. A span that begins before the retained log does not change, because its addresses can no longer be counted.
 */

/** Counts the next slots, from the newest down. The caller holds the lease. */
export async function fillActivity(
  writing: Writing,
  { rows: limit }: FillRequest,
): Promise<Result<FillResult, never>> {
  const retained = await readRetainedLog(writing)
  const { parameters, first, firstRetained } = retained
  const found = await uncountedSlots(writing, firstRetained)
  const slots: UncountedSlot[] = []
  let rows = 0
  for (const slot of found) {
    const more = slot.lastSeq - slot.firstSeq + 1
    if (slots.length > 0 && rows + more > limit) break
    slots.push(slot)
    rows += more
  }
  const oldest = slots.at(-1)
  if (oldest === undefined) return ok({ slots: 0, rows: 0, isDone: true })
  const toCount = { ...(await movesOf(writing, slots)), genesis: first }
  const mayCount = ({ resolution, bucket }: ActivityBucket) =>
    isRetained(parameters, retained, resolution, bucket)
  await addActivity(writing, parameters, toCount, mayCount)
  return ok({ slots: slots.length, rows, isDone: oldest.slot <= firstRetained })
}

/** Deletes the activity of all spans that begin in the retained log, so that they are counted again. The caller holds the lease. */
export async function forgetActivity(
  writing: Writing,
  term: number,
): Promise<Result<LeaseTerm, BlocksPruned>> {
  const retained = await readRetainedLog(writing)
  const slot = await firstSlotWithFewerBlocks(writing, retained.firstRetained)
  if (slot !== undefined) return err({ code: 'BLOCKS_PRUNED', slot })
  for (const [number, resolution] of resolutions.entries()) {
    const cut = bucketOfSlot(retained.parameters, resolution, retained.firstRetained)
    const from = isRetained(retained.parameters, retained, resolution, cut) ? cut : cut + 1
    await writing.tx.activity.deleteMany({
      where: { resolution: number, bucket: { gte: BigInt(from) } },
    })
  }
  return ok({ term })
}

/** Returns the first slot from `from` on that has fewer blocks than were counted. */
async function firstSlotWithFewerBlocks(
  { tx, sql }: Writing,
  from: SlotIndex,
): Promise<SlotIndex | undefined> {
  const text = `SELECT bucket AS slot FROM activity WHERE resolution = 0 AND bucket >= ?
    AND activity.blocks > (SELECT count(*) FROM blocks
      WHERE blocks.slot = activity.bucket AND ${isAccepted})
    ORDER BY bucket LIMIT 1`
  const [row] = await tx.$queryRawUnsafe<{ slot: bigint }[]>(sql.numbered(text), BigInt(from))
  return row && Number(row.slot)
}

/** The slots of which no row is pruned. */
export interface RetainedLog {
  readonly parameters: ProtocolParameters
  readonly first: SlotIndex
  readonly firstRetained: SlotIndex
}

/** Whether no row of any slot of a span is pruned. */
export function isRetained(
  parameters: ProtocolParameters,
  { first, firstRetained }: RetainedLog,
  resolution: Resolution,
  bucket: number,
): boolean {
  return Math.max(first, firstSlotOfBucket(parameters, resolution, bucket)) >= firstRetained
}

/** Reads where the retained log begins. */
export async function readRetainedLog(reading: Writing): Promise<RetainedLog> {
  const { tx } = reading
  const parameters = await networkParameters(tx)
  const bySlot = (slot: 'asc' | 'desc') => tx.commitment.findFirst({ orderBy: { slot } })
  const first = Number(present(await bySlot('asc'), 'genesis commitment').slot)
  const newest = present(await bySlot('desc'), 'genesis commitment')
  const prunedSeq = await prunedSeqOf(reading, Number(newest.lastSeq))
  if (prunedSeq === 0) return { parameters, first, firstRetained: first }
  const holder = await tx.commitment.findFirst({
    where: { lastSeq: { gt: BigInt(prunedSeq) } },
    orderBy: [{ lastSeq: 'asc' }, { slot: 'asc' }],
  })
  // Pruning may have stopped in the middle of a slot.
  const isWhole = holder !== null && Number(holder.firstSeq) > prunedSeq
  const firstRetained = Number((holder ?? newest).slot) + (isWhole ? 0 : 1)
  return { parameters, first, firstRetained }
}

/** A slot and its range of the log. */
export interface UncountedSlot {
  readonly slot: SlotIndex
  readonly firstSeq: number
  readonly lastSeq: number
}

/**
 * Returns at most `maxSlots` uncounted slots from slot `from` on, the newest first. Commits count upwards and this module counts
 * downwards, so the counted slots have no gap, and two index lookups find their beginning.
 */
export async function uncountedSlots(
  { tx, sql }: Writing,
  from: SlotIndex,
): Promise<UncountedSlot[]> {
  const counted = 'SELECT min(bucket) AS first FROM activity WHERE resolution = 0 AND bucket >= ?'
  const [begin] = await tx.$queryRawUnsafe<{ first: bigint | null }[]>(
    sql.numbered(counted),
    BigInt(from),
  )
  const text = `SELECT slot, "firstSeq", "lastSeq" FROM commitments WHERE slot >= ? AND slot < ?
    ORDER BY slot DESC LIMIT ${maxSlots}`
  const bounds = [BigInt(from), BigInt(begin?.first ?? Number.MAX_SAFE_INTEGER)] as const
  const rows = await tx.$queryRawUnsafe<{ slot: bigint; firstSeq: bigint; lastSeq: bigint }[]>(
    sql.numbered(text),
    ...bounds,
  )
  return rows.map(({ slot, firstSeq, lastSeq }) => ({
    slot: Number(slot),
    firstSeq: Number(firstSeq),
    lastSeq: Number(lastSeq),
  }))
}

const maxSlots = 1_000

interface OwnedRow {
  readonly slot: bigint
  readonly address: Uint8Array
  readonly outputId: Uint8Array
  readonly isSpent: boolean | bigint | number
  readonly bytes: Uint8Array | null
  readonly spentBy: Uint8Array | null
  readonly former: bigint | null
}

/**
 * Reads the moves of consecutive slots, given the newest first, from the log: their outputs, and for each row the slot of the previous row
 * of its address.
 */
export async function movesOf(
  { tx, sql }: Writing,
  slots: readonly UncountedSlot[],
): Promise<Omit<SlotsToCount, 'genesis'>> {
  const isSharded = sql.shards?.isOn() === true
  const former = isSharded
    ? scanOfAddress(shardedDialect, {
        ...{ name: 'former', address: 'log.address', class: 0, to: '< log.seq' },
        ...{ direction: 'DESC', limit: '1' },
      })
    : `FROM ledger_updates AS former
          WHERE former.address = log.address AND former.class = 0 AND former.seq < log.seq
          ORDER BY former.seq DESC LIMIT 1`
  const ofShards = {
    classes: ['0', '0'],
    after: '?::bigint - 1',
    before: '?::bigint + 1',
    direction: 'ASC',
    limit: 'NULL',
  } as const
  const log = isSharded ? `(SELECT * ${shardedDialect.shards.ofLog(ofShards)})` : 'ledger_updates'
  const text = `SELECT log."milestoneIndex" AS slot, log.address, log."outputId", log."isSpent",
      outputs.bytes, outputs."spentBy",
      coalesce((SELECT former."milestoneIndex" ${former}),
        (SELECT pruned."milestoneIndex" FROM pruned_tips AS pruned
          WHERE pruned.address = log.address AND pruned.class = 0)) AS former
    FROM ${log} AS log LEFT JOIN outputs ON outputs.id = log."outputId"
    WHERE log.seq BETWEEN ? AND ? AND log.class = 0 ORDER BY log.seq`
  const bounds = [BigInt(slots.at(-1)?.firstSeq ?? 0), BigInt(slots[0]?.lastSeq ?? 0)] as const
  const given = isSharded ? [...bounds, ...bounds] : bounds
  const rows = await tx.$queryRawUnsafe<OwnedRow[]>(sql.numbered(text), ...given)
  const owned = new Map<SlotIndex, OwnedMove[]>()
  const amountById = new Map<OutputId, bigint>()
  const spenderById = new Map<OutputId, TransactionId | undefined>()
  for (const row of rows) {
    const outputId = idFromBytes<'OutputId'>(row.outputId)
    const isSpent = Boolean(row.isSpent)
    const slot = Number(row.slot)
    const ofSlot = owned.get(slot) ?? []
    owned.set(slot, ofSlot)
    const formerSlot = row.former === null ? undefined : Number(row.former)
    ofSlot.push({ outputId, isSpent, address: bytesToHex(row.address), formerSlot })
    if (isSpent) {
      spenderById.set(outputId, row.spentBy === null ? undefined : idFromBytes(row.spentBy))
    } else if (row.bytes !== null) {
      const span = { outputId, bytes: row.bytes, bookedSlot: slot, spentSlot: undefined }
      amountById.set(outputId, decodedOutput(span).output.amount)
    }
  }
  const moves = slots.map(
    ({ slot, firstSeq, lastSeq }): SlotMoves => ({
      slot,
      updates: lastSeq - firstSeq + 1,
      owned: owned.get(slot) ?? [],
    }),
  )
  return { moves, outputs: { amountById, spenderById } }
}
