import { accountEntryBytes } from '../ledger/accounts.ts'
import { inChunks } from './in-chunks.ts'
import { candidatesJson, committeeJson, rewardsJson } from './json-columns.ts'
import type { AccountVersion, EpochRow } from './rows.ts'
import { epochs as epochRows } from './sql/bulk-tables.ts'
import type { RawWriting } from './sql/statements.ts'
import { accountEntries } from './sql/trie-tables.ts'

/** Writes what a slot changes beside the log: accounts and epochs. */

/** The changes of one or several slots. */
export interface StateChanges {
  readonly accounts: readonly AccountVersion[]
  readonly epochs: readonly EpochRow[]
}

/** Adds versions of accounts; adds epochs, or replaces those that are known. */
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
  // Several slots may change one epoch, and PostgreSQL refuses to change a row twice in a statement.
  const newest = new Map(epochs.map((one) => [one.epoch, one]))
  const rows = [...newest.values()].map(({ epoch, committee, candidates, rewards }) => ({
    epoch,
    committee: committeeJson(committee),
    candidates: candidatesJson(candidates) ?? undefined,
    rewards: rewardsJson(rewards) ?? undefined,
  }))
  if (rows.length > 0) await sql.put(tx, epochRows, rows)
}
