import { createWriteStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parseSigning } from '../config.ts'
import type { Flags } from '../lib/flags.ts'
import { keySettings, settings } from '../settings.ts'
import type { Database } from '../store/database.ts'
import { copyLedgerFile } from '../store/move/backup-file.ts'
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
import { type FileCall, parseFileCall } from './file-call.ts'
import { createProgress } from './progress.ts'
import { orSentence, withDatabase } from './with-database.ts'
import { endFile, writeExport } from './write-export.ts'

/** Writes a backup of a ledger while its gateway runs. */
export const backup: Command = {
  help: `Writes a backup of a ledger as of one moment; a gateway may go on writing meanwhile. Of SQLite it is
a copy of the database file, of PostgreSQL the text that ledger-gateway export writes. The file is
there only when it is whole. It holds no keys: the output names what to keep beside it.

Usage: ledger-gateway backup FILE [FLAGS]

${table([
  ['FILE', 'where to write it'],
  ['--force', 'replace a file that is there'],
])}
${settingTable(keySettings)}

To use it again: ledger-gateway restore FILE
`,
  run: async (process, words) => {
    if (asksForHelp(words)) {
      process.stdout(backup.help)
      return done
    }
    const form = { name: 'backup', settings: keySettings, bare: ['force'] }
    const call = parseFileCall(process, words, form)
    if (typeof call === 'number') return call
    const said = await orSentence(() => writeWhole(process, call))
    if (said === undefined) {
      await report(process, call)
      return done
    }
    process.stderr(`ledger-gateway backup: ${said}\n`)
    return failed
  },
}

/** Writes it beside its place, and moves it there when it is whole and on the disk; a sentence where it could not. */
async function writeWhole(process: ProcessIo, call: FileCall): Promise<string | undefined> {
  const { path, values } = call
  const isThere = await stat(path).then(
    () => true,
    () => false,
  )
  if (isThere && !values.has('force')) return `${path} is there already; --force replaces it`
  const part = `${path}.part`
  // What a backup that was killed has left.
  await rm(part, { force: true })
  try {
    const said = await writePart(process, call, part)
    if (said !== undefined) return said
    await onDisk(part)
    await rename(part, path)
    await onDisk(dirname(path))
    return undefined
  } finally {
    await rm(part, { force: true })
  }
}

function writePart(
  process: ProcessIo,
  { url, signal }: FileCall,
  part: string,
): Promise<string | undefined> {
  const address = databaseAddress(url)
  if (address?.kind === 'sqlite') return copyFile(process, { from: address.path, to: part, signal })
  const opening = { url, schema: 'UNCHANGED' } as const
  return withDatabase(opening, (database) => exportTo(process, database, { to: part, signal }))
}

interface Copying {
  readonly to: string
  readonly signal: AbortSignal
}

async function copyFile(
  process: ProcessIo,
  { from, to, signal }: Copying & { readonly from: string },
): Promise<string | undefined> {
  const progress = createProgress(process, 'backup', 'pages')
  const copied = await copyLedgerFile(from, to, { signal, onProgress: progress.tell })
  return copied.ok ? undefined : sentences[copied.error.code]
}

async function exportTo(
  process: ProcessIo,
  database: Database,
  { to, signal }: Copying,
): Promise<string | undefined> {
  const progress = createProgress(process, 'backup')
  const out = createWriteStream(to, { flags: 'wx' })
  const written = await writeExport(database, out, { signal, onProgress: progress.tell })
  await endFile(out)
  return written.ok ? undefined : sentences[written.error.code]
}

const sentences = {
  NOTHING_TO_EXPORT: 'the database holds no ledger',
  EXPORT_INTERRUPTED: 'interrupted; nothing is left of it',
} as const

/** Waits until a file, or the names in a folder, would outlast a loss of power. */
async function onDisk(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}

async function report(process: ProcessIo, { path, url, values }: FileCall): Promise<void> {
  const { size: bytes } = await stat(path)
  const keepBeside = keysBeside(process, values)
  const made = { file: resolve(path), bytes, database: databasePlace(url), keepBeside }
  if (!process.isTerminal) {
    process.stdout(`${JSON.stringify(made)}\n`)
    return
  }
  process.stdout(`${made.file} is a backup of ${made.database}, ${bytes} bytes.
It holds no keys. Keep beside it: ${keepBeside.join(', ')}\n`)
}

/** What a gateway needs besides its database: the key of tokens, and the secret of the issuer's account where one is named. */
function keysBeside(process: ProcessIo, values: Flags['values']): string[] {
  const parsed = parseSigning(process.env, values)
  const signing = parsed.ok ? parsed.value.signing : undefined
  const { issuerKey, jwtSecret } = settings
  return [
    signing?.kind === 'file' ? resolve(signing.path) : `the value of ${jwtSecret.variable}`,
    ...(process.env[issuerKey.variable] ? [`the value of ${issuerKey.variable}`] : []),
  ]
}
