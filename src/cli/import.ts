import { createReadStream } from 'node:fs'
import { hostname } from 'node:os'
import { pid } from 'node:process'
import { linesOf } from '../lib/lines.ts'
import { silentLog } from '../lib/log.ts'
import { err } from '../lib/result.ts'
import { awaitLease } from '../node/lease.ts'
import type { Database } from '../store/database.ts'
import {
  type ExportFault,
  type ImportError,
  type ImportOptions,
  importDatabase,
} from '../store/move/import.ts'
import { createSerialQueue } from '../store/serial-queue.ts'
import { createWriter } from '../store/writer.ts'
import { asksForHelp, type Command, done, type ProcessIo, settingTable, table } from './command.ts'
import { createProgress } from './progress.ts'
import { databaseSettings, moveWith } from './with-database.ts'

/** Reads a whole database from text. */
export const importCommand: Command = {
  help: `Reads what ledger-gateway export has written into an empty database, and checks the log of
ledger updates by its history hashes. An import that was interrupted goes on where it stopped when
it is given the same export again; until it has come to its end the gateway does not start on it.

Usage: ledger-gateway import [FLAGS]

${table([['--file PATH', 'the file to read; standard input by default']])}
${settingTable(databaseSettings)}
`,
  run: async (process, words) => {
    if (asksForHelp(words)) {
      process.stdout(importCommand.help)
      return done
    }
    return moveWith(process, { name: 'import', words }, async (database, { path, signal }) => {
      const input = path === undefined ? process.stdin : createReadStream(path)
      const call = { name: 'import', input, signal, logId: 'KEPT' } as const
      return importInto(process, database, call)
    })
  },
}

/** An import that a command makes. */
export interface ImportCall extends Pick<ImportOptions, 'signal' | 'logId'> {
  /** Of the command. */
  readonly name: string
  readonly input: AsyncIterable<Uint8Array>
}

/** Imports under the lease; a sentence where that fails. */
export async function importInto(
  process: ProcessIo,
  database: Database,
  { name, input, signal, logId }: ImportCall,
): Promise<string | undefined> {
  const write = createWriter(database, createSerialQueue())
  const lease = await awaitLease({ write, log: silentLog, holder: `${hostname()}:${pid}` })
  if (!lease.ok) return `another process (${lease.error.holder}) writes this database`
  const { term, release } = lease.value
  const lines = linesOf(input)
  const progress = createProgress(process, name)
  const options = { lines, term, signal, logId, onProgress: progress.tell }
  const moved = await importDatabase(database, options)
    .catch((failure: unknown) => {
      // The input is cut when the process shall end, and says so by an exception of its own.
      if (signal.aborted) return err({ code: 'IMPORT_INTERRUPTED' } as const)
      throw failure
    })
    .finally(release)
  if (!moved.ok) return importMessage(moved.error)
  progress.finish(moved.value)
  return undefined
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
