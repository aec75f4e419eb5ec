import { existsSync } from 'node:fs'
import { backup, type DatabaseSync } from 'node:sqlite'
import { err, ok, type Result } from '../../lib/result.ts'
import { openFile, tableNames } from '../sql/sqlite/file.ts'
import type { ExportInterrupted, MoveProgress, NothingToExport } from './export.ts'

/** Copies a file of SQLite as of one moment, while a gateway goes on writing it. */

/** What copying a file needs. */
export interface CopyOptions {
  readonly signal: AbortSignal
  /** In pages of the file. */
  onProgress(progress: MoveProgress): void
}

/** Copies the ledger in a file into a new file, and gives the number of pages; throws where either cannot be opened. */
export async function copyLedgerFile(
  from: string,
  to: string,
  { signal, onProgress }: CopyOptions,
): Promise<Result<MoveProgress, NothingToExport | ExportInterrupted>> {
  if (!existsSync(from)) return err({ code: 'NOTHING_TO_EXPORT' })
  const source = openFile(from, 'READ')
  try {
    // The backup reads in this transaction. Without one it would begin again after each commit of the gateway, and on a busy
    // ledger never come to its end.
    source.exec('BEGIN')
    if (!holdsLedger(source)) return err({ code: 'NOTHING_TO_EXPORT' })
    const ofRows = Number(source.prepare('PRAGMA page_count').get()?.page_count)
    const progress = ({ remainingPages }: { readonly remainingPages: number }) => {
      signal.throwIfAborted()
      onProgress({ rows: ofRows - remainingPages, ofRows })
    }
    await backup(source, to, { rate: pagesPerStep, progress })
    // There is no progress after the last step.
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

/** Four megabytes: short enough for progress and for an end that is asked for. */
const pagesPerStep = 1_000

function holdsLedger(file: DatabaseSync): boolean {
  if (!tableNames(file).includes('network')) return false
  return file.prepare('SELECT 1 FROM network').get() !== undefined
}

/** Makes the copy one file, for that of a file with a write-ahead log needs two more to be opened; throws if it is damaged. */
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
