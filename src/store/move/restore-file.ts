import { existsSync, mkdirSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { silentLog } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { openDatabase, type StoreError } from '../open.ts'
import { type CopyOptions, copyLedgerFile } from './backup-file.ts'
import type { ExportInterrupted, MoveProgress, NothingToExport } from './export.ts'
import type { DatabaseNotEmpty } from './import.ts'
import { beginNewLog } from './new-log.ts'

/**
 * Restores a backup that is an SQLite file. It only reads the backup. The database appears at its path once it is complete, has the
 * tables of this program, and has its own log id.
 */
export async function restoreLedgerFile(
  from: string,
  to: string,
  options: CopyOptions,
): Promise<
  Result<MoveProgress, DatabaseNotEmpty | NothingToExport | ExportInterrupted | StoreError>
> {
  // SQLite would apply a leftover write-ahead log to the new file.
  if (existsSync(to) || existsSync(`${to}-wal`)) return err({ code: 'DATABASE_NOT_EMPTY' })
  mkdirSync(dirname(to), { recursive: true })
  const part = `${to}.restoring`
  const remove = () =>
    Promise.all(
      ['', '-journal', '-wal', '-shm', '-reserve'].map((end) => rm(part + end, { force: true })),
    )
  // Removes the files of a restore that was killed.
  await remove()
  try {
    const copied = await copyLedgerFile(from, part, options)
    if (!copied.ok) return copied
    const opened = await openDatabase({ url: `file:${part}`, log: silentLog })
    if (!opened.ok) return opened
    const database = opened.value
    await database.writer.$transaction((tx) => beginNewLog(tx)).finally(database.close)
    await rename(part, to)
    const folder = await open(dirname(to), 'r')
    await folder.sync().finally(() => folder.close())
    return ok(copied.value)
  } finally {
    await remove()
  }
}
