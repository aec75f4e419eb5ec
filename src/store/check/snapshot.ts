import type { Database } from '../database.ts'
import { timeoutsOff } from '../sql/postgresql/transaction.ts'
import type { Writing } from '../sql/statements.ts'

/** Runs work on one snapshot of a database, for as long as it takes, while other connections write. */
export function onSnapshot<T>(
  { kind, reader, statements }: Pick<Database, 'kind' | 'reader' | 'statements'>,
  work: (reading: Writing) => Promise<T>,
): Promise<T> {
  return reader.$transaction(
    async (tx) => {
      // On SQLite, every transaction has one snapshot, and the client of the readers refuses to write.
      if (kind === 'postgresql') {
        await tx.$executeRawUnsafe('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
        await tx.$executeRawUnsafe(timeoutsOff)
      }
      return work({ tx, sql: statements })
    },
    { timeout: maxTimerMs },
  )
}

/** Maximum delay of a timer in milliseconds, 24 days. */
const maxTimerMs = 2 ** 31 - 1
