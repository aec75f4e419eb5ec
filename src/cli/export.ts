import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { stdout } from 'node:process'
import type { Writable } from 'node:stream'
import type { Database } from '../store/database.ts'
import type { ProcessIo } from './command.ts'
import { exportDeclaration } from './declarations/ledger.ts'
import { createProgress, summary } from './progress.ts'
import { writeWholeFile } from './whole-file.ts'
import { type DatabaseCall, databaseCommand, withLedger } from './with-database.ts'
import { writeExport } from './write-export.ts'

/** Exports a whole database as text. */
export const exportCommand = databaseCommand(exportDeclaration, (process, call) =>
  withLedger(call.url, (database) => exportFrom(process, call, database)),
)

async function exportFrom(
  process: ProcessIo,
  call: DatabaseCall,
  database: Database,
): Promise<string | undefined> {
  const path = filePath(call)
  // On a terminal, a progress bar between the lines of the export would disturb it.
  const isShown = path !== undefined || !process.isTerminal
  const progressColumns = isShown ? process.progressColumns : undefined
  const progress = createProgress({ ...process, progressColumns }, 'export')
  const options = { signal: call.signal, onProgress: progress.show }
  let rows = 0
  const exportTo = async (out: Writable): Promise<string | undefined> => {
    const moved = await writeExport(database, out, options).finally(progress.end)
    if (moved.ok) {
      rows = moved.value.rows
      return undefined
    }
    if (moved.error.code === 'NOTHING_TO_EXPORT') return 'the database holds no ledger'
    return `interrupted; ${path === undefined ? 'the export is incomplete' : 'no export was written'}`
  }
  if (path === undefined) return exportTo(stdout)
  if (existsSync(path)) return `${path} already exists`
  const problem = await writeWholeFile({ path, existing: 'KEPT' }, exportTo)
  if (problem !== undefined) return problem
  const file = resolve(path)
  call.print(`${file}: ${summary(rows, progress.end())}\n`, { file, rows })
  return undefined
}

/** Path of the export file; `undefined` for standard input and output. */
export function filePath({ flag }: Pick<DatabaseCall, 'flag'>): string | undefined {
  const path = flag('file')
  return path === '-' ? undefined : path
}
