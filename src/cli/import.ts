import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { linesOf } from '../lib/lines.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { Database } from '../store/database.ts'
import { parseHeader } from '../store/move/export-format.ts'
import {
  type ExportFault,
  type ImportError,
  type ImportOptions,
  importDatabase,
} from '../store/move/import.ts'
import { databaseLocation } from '../store/url.ts'
import type { ProcessIo } from './command.ts'
import { importDeclaration } from './declarations/ledger.ts'
import { filePath } from './export.ts'
import { createProgress, summary } from './progress.ts'
import { readFailure } from './read-failure.ts'
import { leaseLost, takeLease } from './take-lease.ts'
import { databaseCommand, withDatabase } from './with-database.ts'

/** Imports a whole ledger from an export. */
export const importCommand = databaseCommand(importDeclaration, async (process, call) => {
  const { url, signal, print } = call
  const path = filePath(call)
  // If the file does not exist or is not an export, no database is created. A pipe can be read only once.
  const unreadable = readFailure('--file', path ?? '')
  if (path !== undefined && !(await stat(path).catch(unreadable)).isFIFO()) {
    const header = parseHeader(await firstLineOf(path).catch(unreadable))
    if (typeof header === 'string') return `line 1: ${faults[header]}`
  }
  return withDatabase({ url }, async (database) => {
    // The file is opened first: a stream of an unreadable file would fail before anything handles its error.
    const file = path === undefined ? undefined : (await open(path)).createReadStream()
    const input = file ?? process.stdin
    const imported = { name: 'import', input, signal, logId: 'KEPT' } as const
    // An import that is refused reads nothing, and the file would stay open.
    const moved = await importInto(process, database, imported).finally(() => file?.destroy())
    if (!moved.ok) return moved.error
    const { rows, ms } = moved.value
    print(`${databaseLocation(url)}: ${summary(rows, ms)}\n`, {
      database: databaseLocation(url),
      rows,
    })
    return undefined
  })
})

/** Reads the first line of a text file, or the first bytes of a binary file. */
export async function firstLineOf(path: string): Promise<string> {
  for await (const line of linesOf(createReadStream(path, { end: maxHeaderBytes }))) {
    return line
  }
  return ''
}

const maxHeaderBytes = 1_000_000

/** An import that a command runs. */
export interface ImportCall extends Pick<ImportOptions, 'signal' | 'logId'> {
  readonly name: string
  readonly input: AsyncIterable<Uint8Array>
}

/** Imports while holding the lease; resolves to the number of rows and the duration, or to an error message. */
export async function importInto(
  process: ProcessIo,
  database: Database,
  { name, input, signal, logId }: ImportCall,
): Promise<Result<{ readonly rows: number; readonly ms: number }, string>> {
  const lease = await takeLease(database, signal)
  if (!lease.ok) return lease
  const { term, release } = lease.value
  const lines = linesOf(input)
  const progress = createProgress(process, name)
  const options = { lines, term, signal, logId, onProgress: progress.show }
  const moved = await importDatabase(database, options)
    .catch((failure: unknown) => {
      // The input is closed when the process has to stop, and then throws an exception of its own.
      if (signal.aborted) return err({ code: 'IMPORT_INTERRUPTED' } as const)
      throw failure
    })
    .finally(release)
    .finally(progress.end)
  if (!moved.ok) return err(importMessage(moved.error))
  return ok({ rows: moved.value.rows, ms: progress.end() })
}

function importMessage(error: ImportError): string {
  switch (error.code) {
    case 'DATABASE_NOT_EMPTY':
      return 'the database already holds a ledger; name an empty one'
    case 'EXPORT_UNUSABLE':
      return `line ${error.line}: ${faults[error.reason]}`
    case 'ROWS_MISFIT':
      return `rows of ${error.table} do not match its columns; the export is damaged`
    case 'LOG_BROKEN':
      return `the history of the address ${error.address} is broken at ordinal ${error.ordinal}; the export is damaged`
    case 'IMPORT_INTERRUPTED':
      return 'interrupted; run the command again with the same export to continue'
    case 'LEASE_LOST':
      return leaseLost
  }
}

const faults: { readonly [fault in ExportFault]: string } = {
  NOT_AN_EXPORT: 'this is not an export of ledger-gateway',
  OTHER_VERSION: 'the export was written by another version of ledger-gateway',
  TABLES_DIFFER: 'the export was written by a program with different tables',
  LINE_MALFORMED: 'this is not a line of an export',
  DAMAGED: 'the export is damaged: its checksum does not match',
  ROWS_MISSING: 'the database contains other rows than the export announced',
  ENDED_EARLY: 'the export is incomplete; run the command again with the complete export',
  NOT_THE_ONE_BEGUN:
    'this database contains an unfinished import of another export; use that export, or an empty database',
}
