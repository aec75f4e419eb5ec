import { access, open } from 'node:fs/promises'
import { hostname } from 'node:os'
import { pid } from 'node:process'
import { linesOf } from '../lib/lines.ts'
import { silentLog } from '../lib/log.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { awaitLease } from '../node/lease.ts'
import type { Database } from '../store/database.ts'
import {
  type ExportFault,
  type ImportError,
  type ImportOptions,
  importDatabase,
} from '../store/move/import.ts'
import { createSerialQueue } from '../store/serial-queue.ts'
import { databasePlace } from '../store/url.ts'
import { createWriter } from '../store/writer.ts'
import type { Command, ProcessIo } from './command.ts'
import { importDeclaration } from './declarations/ledger.ts'
import { filePath } from './export.ts'
import { createProgress, summary } from './progress.ts'
import { exitCodeOf, readDatabaseCall, withDatabase } from './with-database.ts'

/** Reads a whole database from text. */
export const importCommand: Command = {
  run: async (process, words) => {
    const call = readDatabaseCall(process, importDeclaration, words)
    if (typeof call === 'number') return call
    const { url, signal, print } = call
    const path = filePath(call)
    return exitCodeOf(process, importDeclaration, async () => {
      // For a file that is not there no database is made.
      if (path !== undefined) await access(path)
      return withDatabase({ url }, async (database) => {
        // Opened first: a stream of a file that cannot be read fails before anything listens.
        const input = path === undefined ? process.stdin : (await open(path)).createReadStream()
        const imported = { name: 'import', input, signal, logId: 'KEPT' } as const
        const moved = await importInto(process, database, imported)
        if (!moved.ok) return moved.error
        const { rows, ms } = moved.value
        print(`${databasePlace(url)}: ${summary(rows, ms)}\n`, {
          database: databasePlace(url),
          rows,
        })
        return undefined
      })
    })
  },
}

/** An import that a command makes. */
export interface ImportCall extends Pick<ImportOptions, 'signal' | 'logId'> {
  /** Of the command. */
  readonly name: string
  readonly input: AsyncIterable<Uint8Array>
}

/** Imports under the lease; gives how many rows in how many milliseconds, or a sentence where that fails. */
export async function importInto(
  process: ProcessIo,
  database: Database,
  { name, input, signal, logId }: ImportCall,
): Promise<Result<{ readonly rows: number; readonly ms: number }, string>> {
  const write = createWriter(database, createSerialQueue())
  const lease = await awaitLease({ write, log: silentLog, holder: `${hostname()}:${pid}` })
  if (!lease.ok) return err(`another process (${lease.error.holder}) writes this database`)
  const { term, release } = lease.value
  const lines = linesOf(input)
  const progress = createProgress(process, name)
  const options = { lines, term, signal, logId, onProgress: progress.show }
  const moved = await importDatabase(database, options)
    .catch((failure: unknown) => {
      // The input is cut when the process shall end, and says so by an exception of its own.
      if (signal.aborted) return err({ code: 'IMPORT_INTERRUPTED' } as const)
      throw failure
    })
    .finally(release)
    .finally(progress.end)
  if (!moved.ok) return err(importMessage(moved.error))
  return ok({ rows: moved.value.rows, ms: progress.end() })
}

/** Why an import ended, as a sentence. */
function importMessage(error: ImportError): string {
  switch (error.code) {
    case 'DATABASE_NOT_EMPTY':
      return 'the database holds a ledger already; an import needs an empty one'
    case 'EXPORT_UNUSABLE':
      return `line ${error.line}: ${faults[error.reason]}`
    case 'ROWS_MISFIT':
      return `rows of ${error.table} do not fit its columns; the export is damaged`
    case 'LOG_BROKEN':
      return `the history of the address ${error.address} is broken at ordinal ${error.ordinal}; the export is damaged`
    case 'IMPORT_INTERRUPTED':
      return 'interrupted; give it the same export again to go on'
    case 'LEASE_LOST':
      return 'another process has begun to write this database'
  }
}

const faults: { readonly [fault in ExportFault]: string } = {
  NOT_AN_EXPORT: 'this is no export of ledger-gateway',
  OTHER_VERSION: 'the export was written by another version of ledger-gateway',
  TABLES_DIFFER: 'the export was written by a program with other tables',
  LINE_MALFORMED: 'this is no line of an export',
  DAMAGED: 'the export is damaged: its check does not fit',
  ROWS_MISSING: 'there are other rows in the database than the export announced',
  ENDED_EARLY: 'the export ends too early; give it the whole to go on',
  NOT_THE_ONE_BEGUN:
    'another export was begun in this database; give it that one, or an empty database',
}
