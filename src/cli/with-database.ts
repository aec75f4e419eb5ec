import { configMessage, flagNames, parseDatabase } from '../config.ts'
import { flagMessage, parseFlags } from '../lib/flags.ts'
import { silentLog } from '../lib/log.ts'
import { settings } from '../settings.ts'
import type { Database } from '../store/database.ts'
import { openDatabase, type Schema, type StoreOptions } from '../store/open.ts'
import { done, failed, type ProcessIo, refuse } from './command.ts'
import { databaseMessage } from './database-message.ts'

/** What export and import share: one database, one file, and an end on a stop signal. */

/** The settings of these commands. */
export const databaseSettings = [settings.database] as const

/** How a command was called. */
export interface MoveCall {
  readonly name: string
  readonly words: readonly string[]
  /** Those beside the settings; a file by default. */
  readonly flags?: readonly string[]
  /** Which tables it works on; those of this program by default. */
  readonly schema?: Schema
}

/** What it works with. */
export interface MoveArguments {
  /** `undefined` for the standard streams. */
  readonly path: string | undefined
  readonly signal: AbortSignal
}

/** Opens the database, lets `work` do its part, and says in a sentence why it could not, where it gives one. */
export async function moveWith(
  process: ProcessIo,
  { name, words, flags = ['file'], schema = 'CURRENT' }: MoveCall,
  work: (database: Database, given: MoveArguments) => Promise<string | undefined>,
): Promise<number> {
  const { values, problems } = parseFlags(words, {
    once: [...flagNames(databaseSettings), ...flags],
  })
  const url = parseDatabase(process.env, values)
  if (problems.length > 0 || !url.ok) {
    const wrong = url.ok ? [] : url.error.map(configMessage)
    return refuse(process, name, [...problems.map(flagMessage), ...wrong])
  }
  const stopping = new AbortController()
  void process.stopped.then(() => stopping.abort())
  const [path] = values.get('file') ?? []
  const given = { path: path === '-' ? undefined : path, signal: stopping.signal }
  const opening = { url: url.value.reveal(), schema }
  const said = await withDatabase(opening, (database) => work(database, given))
  if (said === undefined) return done
  process.stderr(`ledger-gateway ${name}: ${said}\n`)
  return failed
}

/** How a command opens a database. */
export type Opening = Pick<StoreOptions, 'url' | 'schema' | 'mayCreate'>

/** Opens a database for some work; a sentence where it cannot be opened, or where the work gives one or fails. */
export function withDatabase(
  opening: Opening,
  work: (database: Database) => Promise<string | undefined>,
): Promise<string | undefined> {
  return orSentence(async () => {
    const database = await openDatabase({ ...opening, log: silentLog })
    if (!database.ok) return databaseMessage(database.error)
    return await work(database.value).finally(database.value.close)
  })
}

/** What the work gives, or where it fails the message: people want the sentence, not the stack. */
export async function orSentence(
  work: () => Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    return await work()
  } catch (failure) {
    // A full disk, a lost server, a file that is not there.
    return failure instanceof Error ? failure.message.trim() : String(failure)
  }
}
