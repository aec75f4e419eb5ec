import { rm } from 'node:fs/promises'
import { silentLog } from '../../lib/log.ts'
import { ok, type Result } from '../../lib/result.ts'
import type { Tx } from '../client.ts'
import { openDatabase, type StoreError } from '../open.ts'
import { type CopyOptions, copyLedgerFile } from './backup-file.ts'
import type { ExportInterrupted, MoveProgress, NothingToExport } from './export.ts'
import { acceptHistory, beginNewLog } from './new-log.ts'

/**
 * Restores a backup that is an SQLite file, which is only read. The new file is complete afterwards, has the tables of this program, and has
 * its own log id.
 */
export async function restoreLedgerFile(
  from: string,
  to: string,
  options: CopyOptions,
): Promise<Result<MoveProgress, NothingToExport | ExportInterrupted | StoreError>> {
  const copied = await copyLedgerFile(from, to, options)
  if (!copied.ok) return copied
  const opened = await openDatabase({ url: `file:${to}`, log: silentLog })
  if (!opened.ok) return opened
  const database = opened.value
  const begin = async (tx: Tx) => {
    await acceptHistory(tx)
    await beginNewLog(tx)
  }
  await database.writer.$transaction(begin).finally(database.close)
  // The gateway creates one under the final name of the file.
  await rm(`${to}-reserve`, { force: true })
  return ok(copied.value)
}
