import { accountEntryBytes } from '../../ledger/accounts.ts'
import { inChunks } from '../in-chunks.ts'
import type { AccountVersion, EpochRow } from '../rows.ts'
import { epochs as epochRows } from '../sql/bulk-tables.ts'
import type { RawWriting } from '../sql/statements.ts'
import { accountEntries } from '../sql/trie-tables.ts'

/** Writes the accounts and epochs that a slot changes. */

/** The changes of accounts and epochs by one or several slots. */
export interface StateChanges {
  readonly accounts: readonly AccountVersion[]
  readonly epochs: readonly EpochRow[]
}

/** Adds versions of accounts, and adds or replaces epochs. */
export async function writeState(
  { tx, sql }: RawWriting,
  { accounts, epochs }: StateChanges,
): Promise<void> {
  await inChunks(accounts, async (some) => {
    const rows = some.map(({ entry, ...version }) => {
      return { ...version, entry: entry && accountEntryBytes(entry) }
    })
    await sql.insert(tx, accountEntries, rows)
  })
  // Several slots may change the same epoch, and PostgreSQL rejects a statement that changes a row twice.
  const newest = new Map(epochs.map((one) => [one.epoch, one]))
  if (newest.size > 0) await sql.put(tx, epochRows, [...newest.values()])
}
