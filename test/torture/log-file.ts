import Sqlite from 'better-sqlite3'
import { type JudgedLog, judgeLog, type RawRow } from './log-rows.ts'

/** Reads the log from a database file, by the driver alone. */
export function readLogFile(path: string): JudgedLog {
  const database = new Sqlite(path, { readonly: true })
  const rows = database
    .prepare<[], Omit<RawRow, 'isSpent'> & { isSpent: number }>(
      'SELECT * FROM ledger_updates ORDER BY seq',
    )
    .all()
  database.close()
  return judgeLog(rows.map((row) => ({ ...row, isSpent: row.isSpent === 1 })))
}
