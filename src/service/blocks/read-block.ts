import { genesisBlockId } from '../../ledger/genesis.ts'
import { ok, type Result } from '../../lib/result.ts'
import type { NotServedByNode } from '../../node/source.ts'
import { Block } from '../../protocol/block.ts'
import type { BlockMetadata } from '../../protocol/node-responses.ts'
import type { BlockId } from '../../protocol/primitives.ts'
import { decodeStored } from '../../protocol/stored.ts'
import type { BlockRow } from '../../store/rows.ts'
import { createDecodeCache } from '../decode-cache.ts'
import type { Services } from '../services.ts'

/** A block and its state. */

export type { NotServedByNode } from '../../node/source.ts'

/** A block as it was received, with its state. */
export interface BlockView extends BlockRow {
  /** The decoded block; decoded at the first call. */
  readonly block: () => Block
}

/** Whether an id is that of the genesis, to which its outputs refer although it has no block. */
export function isGenesisBlock({ parameters }: Pick<Services, 'parameters'>, id: BlockId): boolean {
  return id === genesisBlockId(parameters)
}

/** Reads a block from the store or else from the upstream node; `undefined` if neither has it. */
export async function readBlock(
  { store, source }: Pick<Services, 'store' | 'source'>,
  blockId: BlockId,
): Promise<Result<BlockView | undefined, NotServedByNode>> {
  const kept = await store.read.block(blockId)
  if (kept !== undefined || source.node === undefined) return ok(kept && viewOfBlock(kept))
  const answered = await source.node.block(blockId)
  return answered.ok ? ok(answered.value && viewOfBlock(answered.value)) : answered
}

/** Reads many blocks, from the store in one statement, the others from the upstream node. Unknown blocks are left out. */
export async function readBlocks(
  { store, source }: Pick<Services, 'store' | 'source'>,
  blockIds: readonly BlockId[],
): Promise<ReadonlyMap<BlockId, Result<BlockView, NotServedByNode>>> {
  const kept = await store.read.blocks(blockIds)
  const found = new Map(kept.map((row) => [row.blockId, ok(viewOfBlock(row))]))
  const { node } = source
  if (node === undefined) return found
  return await fetchMissing(found, blockIds, async (blockId) => {
    const answered = await node.block(blockId)
    return answered.ok ? ok(answered.value && viewOfBlock(answered.value)) : answered
  })
}

/** Asks a node for the keys that were not found, a few at a time, because each key needs a request. */
export async function fetchMissing<K, V, E>(
  found: ReadonlyMap<K, Result<V, never>>,
  keys: readonly K[],
  ask: (key: K) => Promise<Result<V | undefined, E>>,
): Promise<ReadonlyMap<K, Result<V, E>>> {
  const all = new Map<K, Result<V, E>>(found)
  const missing = [...new Set(keys)].filter((key) => !found.has(key))
  for (let i = 0; i < missing.length; i += parallelRequests) {
    const some = missing.slice(i, i + parallelRequests)
    for (const [n, answered] of (await Promise.all(some.map(ask))).entries()) {
      const key = some[n] as K
      if (!answered.ok) all.set(key, answered)
      else if (answered.value !== undefined) all.set(key, ok(answered.value))
    }
  }
  return all
}

const parallelRequests = 8

/** A row of the store as the view that the transports render. */
export function viewOfBlock(row: BlockRow): BlockView {
  let decoded: Block | undefined
  const { blockId, bytes } = row
  const decode = () => decodeStored(Block, bytes)
  return { ...row, block: () => (decoded ??= decodedBlocks(blockId, bytes, decode)) }
}

const decodedBlocks = createDecodeCache<BlockId, Block>(6 * 1024 * 1024)

/** The state of a block in the form of the node API (rest.md 4.1). */
export function blockMetadata({ blockId, state }: BlockRow): BlockMetadata {
  return { blockId, blockState: stateNames[state] }
}

const stateNames = {
  PENDING: 'pending',
  ACCEPTED: 'accepted',
  CONFIRMED: 'confirmed',
  FINALIZED: 'finalized',
  DROPPED: 'dropped',
} as const satisfies Record<BlockRow['state'], BlockMetadata['blockState']>
