import { configMessage, parseDatabase } from '../config.ts'
import { assert } from '../lib/assert.ts'
import { silentLog } from '../lib/log.ts'
import type { Database } from '../store/database.ts'
import { openDatabase, type StoreOptions } from '../store/open.ts'
import { reasonOf } from '../store/unusable.ts'
import { type Call, readCall } from './call.ts'
import { type Command, done, fail, type ProcessIo } from './command.ts'
import { databaseMessage } from './database-message.ts'
import type { Declaration } from './declaration.ts'

/** Functions shared by the commands that work on a database. */

/** A valid call of a command that works on a database. */
export interface DatabaseCall extends Call {
  readonly url: string
}

/** Creates a command that works on a database. The work resolves to an error message; `problemsOf` checks the call before it. */
export function databaseCommand(
  declaration: Declaration,
  work: (process: ProcessIo, call: DatabaseCall) => Promise<string | undefined>,
  problemsOf: (call: Call) => readonly string[] = () => [],
): Command {
  return {
    run: async (process, words) => {
      const parsed = ({ values }: Call) => parseDatabase(process.env, values)
      const call = readCall(process, declaration, words, (given) => {
        const url = parsed(given)
        return [...(url.ok ? [] : url.error.map(configMessage)), ...problemsOf(given)]
      })
      if (typeof call === 'number') return call
      const url = parsed(call)
      assert(url.ok, 'the call is valid')
      const databaseCall = { ...call, url: url.value.reveal() }
      return exitCodeOf(process, declaration, () => work(process, databaseCall))
    },
  }
}

/** Runs the work of a command and prints the error message that it resolves to, if any; resolves to the exit code. */
export async function exitCodeOf(
  process: ProcessIo,
  { name }: Pick<Declaration, 'name'>,
  work: () => Promise<string | undefined>,
): Promise<number> {
  const problem = await messageOf(work)
  return problem === undefined ? done : fail(process, name, problem)
}

/** Options with which a command opens a database. */
export type Opening = Pick<StoreOptions, 'url' | 'schema' | 'mayCreate'>

/** Opens a database, runs the work, and closes the database; resolves to an error message if either fails. */
export async function withDatabase(
  opening: Opening,
  work: (database: Database) => Promise<string | undefined>,
): Promise<string | undefined> {
  const database = await openDatabase({ ...opening, log: silentLog })
  if (!database.ok) return databaseMessage(database.error)
  return await work(database.value).finally(database.value.close)
}

/** The same for a command that needs a ledger with the tables of this version. */
export function withLedger(
  url: string,
  work: (database: Database) => Promise<string | undefined>,
): Promise<string | undefined> {
  return withDatabase({ url, schema: 'UNCHANGED' }, async (database) => {
    // The rows of an unfinished import would pass for a ledger with a shorter log.
    const isUnfinished = (await database.reader.import.count()) > 0
    return isUnfinished ? databaseMessage({ code: 'IMPORT_UNFINISHED' }) : work(database)
  })
}

/** Resolves to the message that the work resolves to or throws. Users need the message, not the stack. */
async function messageOf(work: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await work()
  } catch (failure) {
    // Examples are a full disk, a lost connection, and a missing file.
    return reasonOf(failure)
  }
}
