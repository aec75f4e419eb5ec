import { createReadStream } from 'node:fs'
import { linesOf } from '../lib/lines.ts'
import { silentLog } from '../lib/log.ts'
import { type ExportHeader, parseHeader } from '../store/move/export-format.ts'
import { restoreLedgerFile } from '../store/move/restore-file.ts'
import { settleSchema } from '../store/open.ts'
import { databaseAddress, databasePlace } from '../store/url.ts'
import {
  asksForHelp,
  type Command,
  done,
  failed,
  type ProcessIo,
  settingTable,
  table,
} from './command.ts'
import { databaseMessage } from './database-message.ts'
import { type FileCall, parseFileCall } from './file-call.ts'
import { importInto } from './import.ts'
import { createProgress } from './progress.ts'
import { databaseSettings, orSentence, withDatabase } from './with-database.ts'

/** Makes a ledger of a backup. */
export const restore: Command = {
  help: `Makes a ledger of a backup, in an empty database, with the tables of this version. The backup is
only read, and may be that of an earlier version.

The ledger gets a new log id, for what happened after the backup is not in it: a follower that resumes
with a cursor of the former log is refused (CURSOR_OF_ANOTHER_LOG; a feed that is open ends with
FeedReset), and reads the ledger anew. To move a ledger that has stopped for good without that, use
ledger-gateway export and import.

Usage: ledger-gateway restore FILE [FLAGS]

${table([['FILE', 'what ledger-gateway backup has written']])}
${settingTable(databaseSettings)}

The keys that the backup named belong beside it again. To check it: ledger-gateway check
`,
  run: async (process, words) => {
    if (asksForHelp(words)) {
      process.stdout(restore.help)
      return done
    }
    const call = parseFileCall(process, words, { name: 'restore', settings: databaseSettings })
    if (typeof call === 'number') return call
    const said = await orSentence(() => restoreFrom(process, call))
    if (said !== undefined) {
      process.stderr(`ledger-gateway restore: ${said}\n`)
      return failed
    }
    const database = databasePlace(call.url)
    process.stdout(
      process.isTerminal
        ? `${database} holds the ledger of ${call.path}, with a new log id.\n`
        : `${JSON.stringify({ database, file: call.path })}\n`,
    )
    return done
  },
}

async function restoreFrom(process: ProcessIo, call: FileCall): Promise<string | undefined> {
  const begin = await beginningOf(call.path)
  if (begin.startsWith('SQLite format 3\0')) return restoreSqlite(process, call)
  const header = parseHeader(begin.split('\n', 1)[0] ?? '')
  if (header === 'NOT_AN_EXPORT') return `${call.path} is no backup of ledger-gateway`
  if (header === 'OTHER_VERSION') {
    return `${call.path} was written by another version of ledger-gateway`
  }
  return restoreText(process, call, header)
}

/** The first line of a text, or the first bytes of something else. */
async function beginningOf(path: string): Promise<string> {
  for await (const line of linesOf(createReadStream(path, { end: longestHeader }))) {
    return line
  }
  return ''
}

const longestHeader = 1_000_000

async function restoreSqlite(
  process: ProcessIo,
  { path, url, signal }: FileCall,
): Promise<string | undefined> {
  const address = databaseAddress(url)
  if (address?.kind !== 'sqlite') {
    return `${path} is a backup of SQLite; restore it into a file, and move that with ledger-gateway export and import`
  }
  const progress = createProgress(process, 'restore', 'pages')
  const options = { signal, onProgress: progress.tell }
  const restored = await restoreLedgerFile(path, address.path, options)
  if (restored.ok) return undefined
  const { error } = restored
  switch (error.code) {
    case 'DATABASE_NOT_EMPTY':
      return `there is a database in ${databasePlace(url)} already; name one that is not there`
    case 'NOTHING_TO_EXPORT':
      return `${path} holds no ledger`
    case 'EXPORT_INTERRUPTED':
      return 'interrupted; nothing is left of it'
    default:
      return databaseMessage(error)
  }
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
    const said = await importInto(process, database, call)
    if (said !== undefined) return said
    const applied = await settleSchema(database, 'CURRENT', silentLog)
    return applied.ok ? undefined : databaseMessage(applied.error)
  })
}
