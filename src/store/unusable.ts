import type { DriverAdapterError } from '@prisma/driver-adapter-utils'
import { err, type Result } from '../lib/result.ts'
import { messageIn } from '../lib/thrown.ts'
import type { DatabaseUnusable } from './database.ts'
import { storeFaultOf } from './faults.ts'
import { databaseLocation } from './url.ts'

/** Reasons why a database cannot be used, for the operator. */

/** Creates the error for a reason. */
export function unusable(reason: string): Result<never, DatabaseUnusable> {
  return err({ code: 'DATABASE_UNUSABLE', reason })
}

/** Creates the error for a reason that does not name the database. */
export function unusableAt(url: string, reason: string): Result<never, DatabaseUnusable> {
  const place = databaseLocation(url)
  return unusable(reason.startsWith(place) ? reason : `${place}: ${reason}`)
}

/** The message of a failure of the database, and what to do about damaged content. */
export function reasonOf(failure: unknown): string {
  const words = wordsOf(failure)
  // What is not a database may be the wrong file.
  const isDamaged = storeFaultOf(failure) === 'DAMAGED' && !words.endsWith('is not a database')
  return isDamaged ? `${words}; restore a backup of it` : words
}

/** Joins the messages of the database, from the outermost exception to the first cause. They name users and tables, but no passwords. */
function wordsOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure)
  // The adapter's own error names do not help an operator. For example, it calls a locked database a `SocketTimeout`.
  if (isOfAdapter(failure)) return failure.cause.originalMessage ?? failure.message
  // A host with several addresses fails with several errors and an empty message.
  const { code, cause, name, path } = failure as NodeJS.ErrnoException
  // Prisma's message begins with the call. The message of the database is its last line.
  const words = messageIn(failure).trim().split('\n').at(-1) ?? ''
  const place = path === undefined ? '' : `${path}: `
  const own = place + (words !== '' ? words : (code ?? name))
  return cause instanceof Error ? `${own}: ${wordsOf(cause)}` : own
}

/** Checks the name of an error, as the package of the adapters does, because a gateway starts without loading that package. */
function isOfAdapter(failure: Error): failure is DriverAdapterError {
  return failure.name === 'DriverAdapterError'
}
