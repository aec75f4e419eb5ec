import { DatabaseSync } from 'node:sqlite'
import { type JudgedLog, judgeLog, type RawRow } from './log-rows.ts'

/** Reads the log from a database file, by the driver alone. */
export function readLogFile(path: string): JudgedLog {
  const database = new DatabaseSync(path, { readOnly: true })
  const statement = database.prepare('SELECT * FROM ledger_updates ORDER BY seq')
  const rows = statement.all() as unknown as (Omit<RawRow, 'isSpent'> & { isSpent: number })[]
  database.close()
  return judgeLog(rows.map((row) => ({ ...row, isSpent: row.isSpent === 1 })))
}
