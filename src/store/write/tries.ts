import { assert } from '../../lib/assert.ts'
import { ok, type Result } from '../../lib/result.ts'
import type { SlotIndex } from '../../protocol/primitives.ts'
import type { LeaseTerm } from '../contract/lease.ts'
import { allBuilt, type TrieBuild, type TrieChanges, type TriePage } from '../contract/trie.ts'
import { inChunks } from '../in-chunks.ts'
import { jsonOf } from '../sql/bulk.ts'
import type { RawWriting } from '../sql/statements.ts'
import { triePageIds, trieParts, trieStates } from '../sql/trie-tables.ts'

/** Writes pages of tries. */

/** Applies the changes of a slot, in the transaction that commits the slot. */
export async function changeTries(
  writing: RawWriting,
  slot: SlotIndex,
  { put, removed }: TrieChanges,
): Promise<void> {
  const { tx, sql } = writing
  await putPages(writing, put)
  const ids = removed.map((id) => ({ id }))
  await inChunks(ids, (some) => sql.remove(tx, triePageIds, some), pagesPerStatement)
  const states = await sql.update(tx, trieStates, [{ id: 1, slot, built: allBuilt }], {
    where: `trie_state.built = ${allBuilt}`,
  })
  assert(states === 1, 'the tries are built before a slot is committed')
}

/** Adds pages to tries that are being built; the caller holds the lease. */
export async function buildTries(
  writing: RawWriting,
  term: number,
  { slot, built, isNew, put }: TrieBuild,
): Promise<Result<LeaseTerm, never>> {
  const { tx, sql } = writing
  if (isNew) await tx.$executeRawUnsafe('DELETE FROM trie_pages')
  await putPages(writing, put)
  await sql.put(tx, trieStates, [{ id: 1, slot, built }])
  return ok({ term })
}

async function putPages({ tx, sql }: RawWriting, pages: readonly TriePage[]): Promise<void> {
  const { dialect } = sql
  const text = `WITH parts AS (SELECT * FROM ${dialect.given(trieParts.columns)})
    INSERT INTO trie_pages (id, bytes)
    SELECT id, ${dialect.slice('"from"', 'length')} FROM parts WHERE true
    ON CONFLICT (id) DO UPDATE SET bytes = excluded.bytes`
  const putSome = (some: readonly TriePage[]) => {
    let end = 1
    const parts = some.map(({ id, bytes: { length } }) => {
      end += length
      return { id, from: end - length, length }
    })
    const bytes = Buffer.concat(some.map((page) => page.bytes))
    return tx.$executeRawUnsafe(text, jsonOf(dialect, trieParts, parts), bytes)
  }
  await inChunks(pages, putSome, pagesPerStatement)
}

/** Pages per statement, for some milliseconds. Their bytes are one parameter: as digits in JSON they would take three times as long. */
const pagesPerStatement = 250
