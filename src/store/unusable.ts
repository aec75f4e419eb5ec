import type { DriverAdapterError } from '@prisma/driver-adapter-utils'
import { err, type Result } from '../lib/result.ts'
import type { DatabaseUnusable } from './database.ts'

/** Why a database cannot be used, in words that an operator can act on. */

/** The refusal for a reason. */
export function unusable(reason: string): Result<never, DatabaseUnusable> {
  return err({ code: 'DATABASE_UNUSABLE', reason })
}

/** The database's own words, from the outermost exception to the first cause; they name users and tables, no password. */
export function reasonOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure)
  // The adapter's own name of it says nothing to an operator: a database that is locked is a `SocketTimeout` to it.
  if (isOfAdapter(failure)) return failure.cause.originalMessage ?? failure.message
  // A host of several addresses fails with several errors and no sentence of its own.
  const { message, code, cause, name } = failure as NodeJS.ErrnoException
  // Prisma begins with the call that it was; the database's own words come last.
  const words = message.trim().split('\n').at(-1) ?? ''
  const own = words !== '' ? words : (code ?? name)
  return cause instanceof Error ? `${own}: ${reasonOf(cause)}` : own
}

/** By its name, as the adapters' package does it: a gateway begins without that package. */
function isOfAdapter(failure: Error): failure is DriverAdapterError {
  return failure.name === 'DriverAdapterError'
}
