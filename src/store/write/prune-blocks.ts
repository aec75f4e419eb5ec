import type { Block as StoredBlock } from '../../generated/prisma/client.ts'
import { resolutions } from '../../ledger/activity-buckets.ts'
import { Block } from '../../protocol/block.ts'
import type { ProtocolParameters } from '../../protocol/parameters.ts'
import { decode } from '../../protocol/schema/schema.ts'
import type { PruneBlocksRequest, PruneBlocksResult } from '../contract/prune.ts'
import type { BlockKind } from '../rows.ts'
import { blockIds, blockParents } from '../sql/bulk-tables.ts'
import type { Writing } from '../sql/statements.ts'
import { idFromBytes, kindToNumber } from '../values.ts'
import { networkParameters } from './network-parameters.ts'

/** Prunes old blocks without a transaction and without an uncounted vote of a validator. */

/** Deletes at most `rows` of these blocks, with their references to their parents. Blocks of other kinds are never pruned. */
export async function pruneBlocks(
  writing: Writing,
  { slots, votesBefore, rows: limit }: PruneBlocksRequest,
): Promise<PruneBlocksResult> {
  const { tx, sql } = writing
  const span = await slotsOf(writing, slots)
  if (span === undefined) return { pruned: 0, isDone: true }
  const upTo: readonly (readonly [BlockKind, number])[] = [
    ['basic', span.to],
    ['tagged', span.to],
    ['validation', Math.min(span.to, votesBefore - 1)],
  ]
  const found: Pick<StoredBlock, 'id' | 'inbox' | 'bytes'>[] = []
  for (const [kind, to] of upTo) {
    for (const state of ['FINALIZED', 'DROPPED']) {
      if (found.length >= limit) break
      const rows = await tx.block.findMany({
        where: { state, kind: kindToNumber(kind), slot: { gte: span.from, lte: to } },
        orderBy: { slot: 'asc' },
        take: limit - found.length,
        select: { id: true, inbox: true, bytes: true },
      })
      found.push(...rows)
    }
  }
  if (found.length === 0) return { pruned: 0, isDone: true }
  const ids = found.map(({ id }) => ({ blockId: idFromBytes<'BlockId'>(id) }))
  // The table of references is sorted by parent, so a reference cannot be found by its child alone.
  const references = found.flatMap(({ inbox, bytes }) =>
    parentsOf(bytes).map((parent) => ({ parent, inbox: Number(inbox) })),
  )
  await sql.remove(tx, blockParents, references)
  await sql.remove(tx, blockIds, ids)
  return { pruned: found.length, isDone: found.length < limit }
}

/** Returns the slots whose blocks the shortest retention prunes; `undefined` if there are none. */
export async function prunableSlots(writing: Writing) {
  return slotsOf(writing, minRetainedSlots(await networkParameters(writing.tx)))
}

/** Number of slots for which blocks are always kept, because new blocks may refer to them. */
export function minRetainedSlots({ maxCommittableAge }: ProtocolParameters): number {
  return 2 * maxCommittableAge
}

/**
 * Returns the slots whose blocks may be pruned. The age is counted from the newest block, because new blocks reference the newest blocks,
 * however old these are in a quiet ledger. Slots whose activity is not counted yet are excluded, because the count needs their blocks.
 */
async function slotsOf(
  { tx }: Writing,
  slots: number,
): Promise<{ readonly from: number; readonly to: number } | undefined> {
  const [committed, counted] = await Promise.all([
    tx.commitment.findFirst({ orderBy: { slot: 'desc' }, select: { slot: true } }),
    tx.activity.findFirst({
      where: { resolution: resolutions.indexOf('SLOT') },
      orderBy: { bucket: 'asc' },
      select: { bucket: true },
    }),
  ])
  if (committed === null || counted === null) return undefined
  const newest = await tx.block.findFirst({
    where: { slot: { lte: committed.slot }, state: { not: 'DROPPED' } },
    orderBy: { slot: 'desc' },
    select: { slot: true },
  })
  if (newest === null) return undefined
  return { from: Number(counted.bucket), to: Number(newest.slot) - slots - 1 }
}

function parentsOf(bytes: Uint8Array) {
  const block = decode(Block, bytes)
  if (!block.ok) throw new Error(`a stored block cannot be decoded: ${block.error.code}`)
  const { strongParents, weakParents, shallowLikeParents } = block.value.body
  return [...new Set([...strongParents, ...weakParents, ...shallowLikeParents])]
}
