import { createWriteStream, existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { stdout } from 'node:process'
import type { Database } from '../store/database.ts'
import type { Command, ProcessIo } from './command.ts'
import { exportDeclaration } from './declarations/ledger.ts'
import { createProgress, summary } from './progress.ts'
import { type DatabaseCall, exitCodeOf, readDatabaseCall, withDatabase } from './with-database.ts'
import { endFile, writeExport } from './write-export.ts'

/** Exports a whole database as text. */
export const exportCommand: Command = {
  run: async (process, words) => {
    const call = readDatabaseCall(process, exportDeclaration, words)
    if (typeof call === 'number') return call
    const opening = { url: call.url, schema: 'UNCHANGED' } as const
    return exitCodeOf(process, exportDeclaration, () =>
      withDatabase(opening, (database) => exportFrom(process, call, database)),
    )
  },
}

async function exportFrom(
  process: ProcessIo,
  call: DatabaseCall,
  database: Database,
): Promise<string | undefined> {
  const path = filePath(call)
  if (path !== undefined && existsSync(path)) return `${path} already exists`
  const out = path === undefined ? stdout : createWriteStream(path, { flags: 'wx' })
  // On a terminal, a progress bar between the lines of the export would disturb it.
  const isShown = path !== undefined || !process.isTerminal
  const progressColumns = isShown ? process.progressColumns : undefined
  const progress = createProgress({ ...process, progressColumns }, 'export')
  const options = { signal: call.signal, onProgress: progress.show }
  const moved = await writeExport(database, out, options).finally(progress.end)
  if (path !== undefined) await endFile(out)
  if (!moved.ok) {
    // The beginning of an export is of no use, and the next export would not replace it.
    if (path !== undefined) await rm(path)
    return moved.error.code === 'NOTHING_TO_EXPORT'
      ? 'the database holds no ledger'
      : `interrupted; ${path === undefined ? 'the export is incomplete' : 'no export was written'}`
  }
  const { rows } = moved.value
  if (path === undefined) return undefined
  const file = resolve(path)
  call.print(`${file}: ${summary(rows, progress.end())}\n`, { file, rows })
  return undefined
}

/** Path of the export file; `undefined` for standard input and output. */
export function filePath({ flag }: Pick<DatabaseCall, 'flag'>): string | undefined {
  const path = flag('file')
  return path === '-' ? undefined : path
}
