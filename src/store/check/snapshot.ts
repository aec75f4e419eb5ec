import type { Database } from '../database.ts'
import type { Writing } from '../sql/statements.ts'

/** Reads a database as of one moment for as long as it takes, while others write it. */
export function onSnapshot<T>(
  { kind, reader, statements }: Pick<Database, 'kind' | 'reader' | 'statements'>,
  work: (reading: Writing) => Promise<T>,
): Promise<T> {
  return reader.$transaction(
    async (tx) => {
      // On SQLite a transaction sees one moment anyway, and the client of the readers refuses to write.
      if (kind === 'postgresql') {
        await tx.$executeRawUnsafe('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
      }
      return work({ tx, sql: statements })
    },
    { timeout: longestMs },
  )
}

/** The longest delay of a timer, 24 days. */
const longestMs = 2 ** 31 - 1
