import { existsSync } from 'node:fs'
import { backup, type DatabaseSync } from 'node:sqlite'
import { err, ok, type Result } from '../../lib/result.ts'
import { openFile, tableNames } from '../sql/sqlite/file.ts'
import type { ExportInterrupted, MoveProgress, NothingToExport } from './export.ts'

/** Copies a snapshot of an SQLite file while a gateway keeps writing to it. */

export interface CopyOptions {
  readonly signal: AbortSignal
  /** Reports the progress in pages of the file. */
  onProgress(progress: MoveProgress): void
}

/** Copies the ledger in a file into a new file and returns the number of pages. Throws if either file cannot be opened. */
export async function copyLedgerFile(
  from: string,
  to: string,
  { signal, onProgress }: CopyOptions,
): Promise<Result<MoveProgress, NothingToExport | ExportInterrupted>> {
  if (!existsSync(from)) return err({ code: 'NOTHING_TO_EXPORT' })
  const source = openFile(from, 'READ')
  try {
    // The backup reads in this transaction. Without it, the backup would restart after each commit of the gateway, and never finish
    // on a busy ledger.
    source.exec('BEGIN')
    if (!holdsLedger(source)) return err({ code: 'NOTHING_TO_EXPORT' })
    const ofRows = Number(source.prepare('PRAGMA page_count').get()?.page_count)
    const progress = ({ remainingPages }: { readonly remainingPages: number }) => {
      signal.throwIfAborted()
      onProgress({ rows: ofRows - remainingPages, ofRows })
    }
    await backup(source, to, { rate: pagesPerStep, progress })
    // The backup does not call `progress` after the last step.
    signal.throwIfAborted()
    settleCopy(to)
    return ok({ rows: ofRows, ofRows })
  } catch (failure) {
    if (signal.aborted) return err({ code: 'EXPORT_INTERRUPTED' })
    throw failure
  } finally {
    source.close()
  }
}

/** Pages between two progress reports: 4 MB, so that reports are frequent and an abort takes effect soon. */
const pagesPerStep = 1_000

function holdsLedger(file: DatabaseSync): boolean {
  const names = tableNames(file)
  const hasRows = (table: string) =>
    names.includes(table) && file.prepare(`SELECT 1 FROM ${table}`).get() !== undefined
  // The rows of an unfinished import are no ledger.
  return hasRows('network') && !hasRows('imports')
}

/** Removes the write-ahead log from the copy, so that it is one file and needs no other files. Throws if the copy is damaged. */
function settleCopy(file: string): void {
  const copy = openFile(file, 'WRITE_EXISTING')
  try {
    copy.exec('PRAGMA journal_mode = DELETE')
    const [first] = copy.prepare('PRAGMA quick_check(1)').all()
    const found = first?.quick_check
    if (found !== 'ok') throw new Error(`the copy is damaged: ${found}`)
  } finally {
    copy.close()
  }
}
