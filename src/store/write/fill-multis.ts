import { multiKeysOf } from '../../ledger/index-keys.ts'
import type { OutputId } from '../../protocol/primitives.ts'
import type { SqlConnection } from '../client.ts'
import { inChunks } from '../in-chunks.ts'
import { insertText, jsonOf } from '../sql/bulk.ts'
import { indexKeys, outputIds, outputRows } from '../sql/bulk-tables.ts'
import { selected } from '../sql/columns.ts'
import { rowsOf } from '../sql/tables.ts'
import { indexKindToNumber } from '../values.ts'
import { type FilledDatabase, writeRows } from './fill-statements.ts'
import { decodedOutput } from './output-index.ts'

/** The migration that adds the index keys of members with their multi addresses. */
export const multiMigration = '20261130083000_multis_of_members'

/**
 * Adds these keys for all outputs of the index, in the transaction of the migration. SQL alone cannot do this: the reference of a multi
 * address is a hash. Reads only outputs that name a multi address.
 */
export async function fillMultis(
  database: FilledDatabase,
  connection: SqlConnection,
): Promise<void> {
  const { dialect } = database.statements
  const named = await rowsOf(
    connection,
    `SELECT DISTINCT ${dialect.hex('"outputId"')} FROM index_keys
      WHERE kind = ${indexKindToNumber('MULTI_MEMBER')}`,
  )
  const text = `SELECT ${selected(dialect, outputRows)} FROM outputs
    WHERE id IN (SELECT id FROM ${dialect.given(outputIds.columns)})`
  await inChunks(named, async (some) => {
    const ids = some.map(([id]) => ({ outputId: String(id) as OutputId }))
    const rows = await rowsOf(connection, text, [jsonOf(dialect, outputIds, ids)])
    const keys = rows.map(outputRows.rowOf).flatMap((row) => {
      const { outputId, output, bookedSlot } = decodedOutput(row)
      return multiKeysOf(output).map((key) => ({ ...key, bookedSlot, outputId }))
    })
    await inChunks(keys, (part) => writeRows(database, connection, insertText, indexKeys, part))
  })
}
