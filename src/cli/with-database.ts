import { configMessage, parseDatabase } from '../config.ts'
import { assert } from '../lib/assert.ts'
import { silentLog } from '../lib/log.ts'
import type { Database } from '../store/database.ts'
import { openDatabase, type StoreOptions } from '../store/open.ts'
import { type Call, readCall } from './call.ts'
import { done, failed, type ProcessIo } from './command.ts'
import { databaseMessage } from './database-message.ts'
import type { Declaration } from './declaration.ts'

/** What the commands share that work on a database. */

/** A call that is in order. */
export interface DatabaseCall extends Call {
  /** Of the database. */
  readonly url: string
}

/** Reads the call of a command that works on one database; the exit code where that is all. */
export function readDatabaseCall(
  process: ProcessIo,
  declaration: Declaration,
  words: readonly string[],
): DatabaseCall | number {
  const parsed = ({ values }: Call) => parseDatabase(process.env, values)
  const call = readCall(process, declaration, words, (given) => {
    const url = parsed(given)
    return url.ok ? [] : url.error.map(configMessage)
  })
  if (typeof call === 'number') return call
  const url = parsed(call)
  assert(url.ok, 'the call is in order')
  return { ...call, url: url.value.reveal() }
}

/** Does the work of a command, and prints in a sentence why it could not, where it gives one; gives the exit code. */
export async function exitCodeOf(
  process: ProcessIo,
  { name }: Pick<Declaration, 'name'>,
  work: () => Promise<string | undefined>,
): Promise<number> {
  const said = await orSentence(work)
  if (said === undefined) return done
  process.stderr(`ledger-gateway ${name}: ${said}\n`)
  return failed
}

/** How a command opens a database. */
export type Opening = Pick<StoreOptions, 'url' | 'schema' | 'mayCreate'>

/** Opens a database for some work; a sentence where it cannot be opened, or where the work gives one. */
export async function withDatabase(
  opening: Opening,
  work: (database: Database) => Promise<string | undefined>,
): Promise<string | undefined> {
  const database = await openDatabase({ ...opening, log: silentLog })
  if (!database.ok) return databaseMessage(database.error)
  return await work(database.value).finally(database.value.close)
}

/** What the work gives, or where it fails the message: people want the sentence, not the stack. */
async function orSentence(work: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await work()
  } catch (failure) {
    // A full disk, a lost server, a file that is not there.
    return failure instanceof Error ? failure.message.trim() : String(failure)
  }
}
