import { assert } from '../lib/assert.ts'
import { Block } from '../protocol/block.ts'
import type { BlockId } from '../protocol/primitives.ts'
import { decode } from '../protocol/schema/schema.ts'
import type { StoreReader } from '../store/contract.ts'
import type { BlockRow } from '../store/rows.ts'

/** A block and where it stands. */

/** What reading blocks needs. */
export interface ReadBlockDeps {
  readonly store: { readonly read: Pick<StoreReader, 'block'> }
}

/** A block as it came, with its state. */
export interface BlockView extends BlockRow {
  /** Its meaning; decoded anew with every call. */
  readonly block: () => Block
}

/** Reads a block; `undefined` when it is not known. */
export async function readBlock(
  { store }: ReadBlockDeps,
  blockId: BlockId,
): Promise<BlockView | undefined> {
  const row = await store.read.block(blockId)
  return row && { ...row, block: () => decodeBlock(row.bytes) }
}

/** The meaning of a block's bytes, which were checked when it was accepted. */
export function decodeBlock(bytes: Uint8Array): Block {
  const block = decode(Block, bytes)
  assert(block.ok, 'a stored block decodes')
  return block.value
}
