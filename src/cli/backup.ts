import { existsSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { type IssuerSettings, parseSigning } from '../config.ts'
import type { Flags } from '../lib/flags.ts'
import { readSettings } from '../read-settings.ts'
import { settings } from '../settings.ts'
import type { Database } from '../store/database.ts'
import { copyLedgerFile } from '../store/move/backup-file.ts'
import { databaseAddress, databaseLocation } from '../store/url.ts'
import type { ProcessIo } from './command.ts'
import { backupDeclaration } from './declarations/ledger.ts'
import { createProgress } from './progress.ts'
import { writeWholeFile } from './whole-file.ts'
import { type DatabaseCall, databaseCommand, withLedger } from './with-database.ts'
import { writeExport } from './write-export.ts'

/** Writes a backup of a ledger while its gateway runs. */
export const backup = databaseCommand(backupDeclaration, async (process, given) => {
  const call = { ...given, path: given.word(0) }
  const problem = await writeBackup(process, call)
  if (problem === undefined) await report(process, call)
  return problem
})

interface FileCall extends DatabaseCall {
  readonly path: string
}

/** Writes the backup; returns a message if that fails. */
async function writeBackup(process: ProcessIo, call: FileCall): Promise<string | undefined> {
  const { path, values, url } = call
  const found = await stat(path).catch(() => undefined)
  if (found !== undefined && !values.has('force')) {
    return `${path} already exists; --force replaces it`
  }
  // A device or a pipe would be replaced too.
  if (found?.isFile() === false) return `${path} is not a file`
  if (await isDatabase(path, url)) return `${path} is the database itself`
  const existing = values.has('force') ? 'REPLACED' : 'KEPT'
  return writeWholeFile({ path, existing }, (out, part) => writePart(process, call, { out, part }))
}

async function isDatabase(path: string, url: string): Promise<boolean> {
  const address = databaseAddress(url)
  if (address?.kind !== 'sqlite') return false
  const placeOf = (file: string) => realpath(file).catch(() => undefined)
  const place = await placeOf(path)
  return place !== undefined && place === (await placeOf(address.path))
}

function writePart(
  process: ProcessIo,
  { url, signal }: FileCall,
  { out, part }: { readonly out: Writable; readonly part: string },
): Promise<string | undefined> {
  const address = databaseAddress(url)
  if (address?.kind === 'sqlite')
    return copyFile(process, { url, from: address.path, to: part, signal })
  return withLedger(url, (database) => exportTo(process, database, { url, out, signal }))
}

type Copying = Pick<DatabaseCall, 'url' | 'signal'>

async function copyFile(
  process: ProcessIo,
  { url, from, to, signal }: Copying & { readonly from: string; readonly to: string },
): Promise<string | undefined> {
  const progress = createProgress(process, 'backup', 'pages')
  const options = { signal, onProgress: progress.show }
  const copied = await copyLedgerFile(from, to, options).finally(progress.end)
  return copied.ok ? undefined : messages[copied.error.code](url)
}

async function exportTo(
  process: ProcessIo,
  database: Database,
  { url, out, signal }: Copying & { readonly out: Writable },
): Promise<string | undefined> {
  const progress = createProgress(process, 'backup')
  const options = { signal, onProgress: progress.show }
  const written = await writeExport(database, out, options).finally(progress.end)
  return written.ok ? undefined : messages[written.error.code](url)
}

const messages = {
  NOTHING_TO_EXPORT: (url: string) => `there is no ledger in ${databaseLocation(url)}`,
  EXPORT_INTERRUPTED: () => 'interrupted; no backup was written',
} as const

async function report(process: ProcessIo, { path, url, values, print }: FileCall): Promise<void> {
  const { size: bytes } = await stat(path)
  const keepBeside = keysToKeep(process, values)
  const result = { file: resolve(path), bytes, database: databaseLocation(url), keepBeside }
  const text = `${result.file} is a backup of ${result.database}, ${bytes} bytes.
It contains no keys. Keep with it: ${keepBeside.join(', ')}\n`
  print(text, result)
}

/** The keys that a gateway needs besides its database: the token key, and the secret of the issuer account if it is set. */
function keysToKeep(process: ProcessIo, values: Flags['values']): string[] {
  const parsed = parseSigning(process.env, values)
  const { configFile, issuerKey } = settings
  const { given } = readSettings(process.env, values, [configFile, issuerKey])
  return [
    tokenKey(parsed.ok ? parsed.value.signing : undefined),
    ...(given.get(issuerKey.name)?.text ? [`the value of ${issuerKey.variable}`] : []),
  ]
}

function tokenKey(signing: IssuerSettings['signing'] | undefined): string {
  const { jwtSecret, keyFile } = settings
  if (signing?.kind !== 'file') return `the value of ${jwtSecret.variable}`
  // The gateway may have settings that this command does not have.
  return existsSync(signing.path)
    ? resolve(signing.path)
    : `the file of ${keyFile.variable} or the value of ${jwtSecret.variable} of the gateway`
}
