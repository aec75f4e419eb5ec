import type { BlockId } from '../../protocol/primitives.ts'
import { idFromBytes } from '../values.ts'
import { blockIds, blockParents } from './bulk-tables.ts'
import type { RawWriting } from './statements.ts'

/** Statements on blocks that the inbox and the import of final blocks share. */

/** Returns the ids of the given blocks that are stored already. */
export async function knownBlocks(
  { tx, sql }: RawWriting,
  blocks: readonly { readonly blockId: BlockId }[],
): Promise<Set<BlockId>> {
  const ids = (matched: string) => `SELECT id FROM (${matched}) AS known`
  const rows = await sql.select<{ id: Uint8Array }, { blockId: BlockId }>(tx, blockIds, blocks, ids)
  return new Set(rows.map(({ id }) => idFromBytes<'BlockId'>(id)))
}

/** Inserts the references of new blocks to their parents, without duplicates. */
export async function insertParents(
  { tx, sql }: RawWriting,
  blocks: readonly { readonly inbox: number; readonly parents?: readonly BlockId[] }[],
): Promise<void> {
  const references = blocks.flatMap(({ inbox, parents = [] }) =>
    [...new Set(parents)].map((parent) => ({ parent, inbox })),
  )
  if (references.length > 0) await sql.insert(tx, blockParents, references)
}
