import { DatabaseSync } from 'node:sqlite'
import { type CheckedLog, checkLog, type RawRow } from './log-rows.ts'

/** Reads the log from a database file with the driver only. */
export function readLogFile(path: string): CheckedLog {
  const database = new DatabaseSync(path, { readOnly: true })
  const statement = database.prepare('SELECT * FROM ledger_updates ORDER BY seq')
  const rows = statement.all() as unknown as SqliteRow[]
  database.close()
  // The driver returns a `Uint8Array`, whose `toString` does not print hexadecimal digits.
  return checkLog(
    rows.map((row) => ({
      ...row,
      address: Buffer.from(row.address),
      outputId: Buffer.from(row.outputId),
      historyHash: Buffer.from(row.historyHash),
      isSpent: row.isSpent === 1,
    })),
  )
}

interface SqliteRow extends Omit<RawRow, 'address' | 'outputId' | 'historyHash' | 'isSpent'> {
  readonly address: Uint8Array
  readonly outputId: Uint8Array
  readonly historyHash: Uint8Array
  readonly isSpent: number
}
