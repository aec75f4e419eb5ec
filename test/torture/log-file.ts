import { DatabaseSync } from 'node:sqlite'
import { type JudgedLog, judgeLog, type RawRow } from './log-rows.ts'

/** Reads the log from a database file, by the driver alone. */
export function readLogFile(path: string): JudgedLog {
  const database = new DatabaseSync(path, { readOnly: true })
  const statement = database.prepare('SELECT * FROM ledger_updates ORDER BY seq')
  const rows = statement.all() as unknown as SqliteRow[]
  database.close()
  // The driver gives bytes as plain arrays, whose texts are no hexadecimal digits.
  return judgeLog(
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
