import { createReadStream, existsSync, mkdirSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { silentLog } from '../lib/log.ts'
import type { Database } from '../store/database.ts'
import { type ExportHeader, parseHeader } from '../store/move/export-format.ts'
import { acceptHistory } from '../store/move/new-log.ts'
import { restoreLedgerFile } from '../store/move/restore-file.ts'
import { settleSchema } from '../store/open.ts'
import { databaseAddress, databaseLocation } from '../store/url.ts'
import type { ProcessIo } from './command.ts'
import { databaseMessage } from './database-message.ts'
import { restoreDeclaration } from './declarations/ledger.ts'
import { firstLineOf, importInto } from './import.ts'
import { createProgress } from './progress.ts'
import { readFailure } from './read-failure.ts'
import { writeWholeFile } from './whole-file.ts'
import { type DatabaseCall, databaseCommand, withDatabase, withLedger } from './with-database.ts'

/** Restores a ledger from a backup. */
export const restore = databaseCommand(
  restoreDeclaration,
  async (process, call) => {
    if (call.values.has('accept')) return withLedger(call.url, acceptIn(call))
    const file = resolve(call.word(0))
    const problem = await restoreFrom(process, { ...call, path: file })
    if (problem !== undefined) return problem
    const database = databaseLocation(call.url)
    call.print(`${database} holds the ledger of ${file}, with a new log id.\n`, { database, file })
    return undefined
  },
  ({ values, words }) =>
    values.has('accept') === (words.length === 0) ? [] : ['either FILE or --accept is required'],
)

interface FileCall extends DatabaseCall {
  readonly path: string
}

/** Implements `--accept`. */
function acceptIn({ print }: DatabaseCall) {
  return async ({ writer }: Database): Promise<string | undefined> => {
    const isAccepted = await writer.$transaction((tx) => acceptHistory(tx))
    if (!isAccepted)
      return 'there is nothing to accept: no gateway has detected missing data in this database'
    print('The ledger is accepted as it is, with a new log id.\n', { isAccepted })
    return undefined
  }
}

async function restoreFrom(process: ProcessIo, call: FileCall): Promise<string | undefined> {
  const unreadable = readFailure('FILE', call.path)
  // A pipe would be empty at the second reading.
  if (!(await stat(call.path).catch(unreadable)).isFile()) return `${call.path} is not a file`
  const firstLine = await firstLineOf(call.path).catch(unreadable)
  if (firstLine.startsWith('SQLite format 3\0')) return restoreSqlite(process, call)
  const header = parseHeader(firstLine.split('\n', 1)[0] ?? '')
  if (header === 'NOT_AN_EXPORT') return `${call.path} is not a backup of ledger-gateway`
  if (header === 'OTHER_VERSION') {
    return `${call.path} was written by another version of ledger-gateway`
  }
  return restoreText(process, call, header)
}

async function restoreSqlite(
  process: ProcessIo,
  { path, url, signal }: FileCall,
): Promise<string | undefined> {
  const address = databaseAddress(url)
  if (address?.kind !== 'sqlite') {
    return `${path} is a backup of a SQLite database; restore it to a file, then move the ledger with ledger-gateway export and import`
  }
  const { path: to } = address
  const taken = () => {
    if (existsSync(to)) {
      return `${databaseLocation(url)} already contains a database; name one that does not exist`
    }
    // SQLite would apply it to the new file.
    const log = `${resolve(to)}-wal`
    return existsSync(log) ? `${log} is left of a former database; remove it first` : undefined
  }
  const former = taken()
  if (former !== undefined) return former
  mkdirSync(dirname(to), { recursive: true })
  const progress = createProgress(process, 'restore', 'pages')
  const options = { signal, onProgress: progress.show }
  return writeWholeFile({ path: to, existing: 'KEPT' }, async (_out, part) => {
    const restored = await restoreLedgerFile(path, part, options).finally(progress.end)
    // A gateway may have created a database meanwhile.
    if (restored.ok) return taken()
    const { error } = restored
    switch (error.code) {
      case 'NOTHING_TO_EXPORT':
        return `${path} holds no ledger`
      case 'EXPORT_INTERRUPTED':
        return 'interrupted; nothing was restored'
      default:
        return databaseMessage(error)
    }
  })
}

function restoreText(
  process: ProcessIo,
  { path, url, signal }: FileCall,
  { migration }: ExportHeader,
): Promise<string | undefined> {
  const schema = migration === undefined ? 'CURRENT' : { upTo: migration }
  return withDatabase({ url, schema }, async (database) => {
    const input = createReadStream(path)
    const call = { name: 'restore', input, signal, logId: 'NEW' } as const
    const moved = await importInto(process, database, call).finally(() => input.destroy())
    if (!moved.ok) return moved.error
    const applied = await settleSchema(database, 'CURRENT', silentLog)
    if (!applied.ok) return databaseMessage(applied.error)
    // The tables of an earlier version may have no place for this.
    await database.writer.$transaction((tx) => acceptHistory(tx))
    return undefined
  })
}
