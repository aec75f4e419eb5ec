import { isStoreAway } from '../../store/faults.ts'
import { SnapshotOver } from '../../store/snapshot-session.ts'
import { mostQueryMs } from './query-time.ts'

/** The database is away, restarting or overloaded. The request may have been carried out: a client that submitted asks again. */
export interface DatabaseAway {
  readonly code: 'STORE_AWAY'
}

/** The error for an exception after which the same request may succeed a moment later; `undefined` for other exceptions. */
export function storeAwayOf(failure: unknown): DatabaseAway | undefined {
  return isStoreAway(failure) ? { code: 'STORE_AWAY' } : undefined
}

/** A query was still reading after so long, and what it reads as of may be gone. */
export interface QueryTooLong {
  readonly code: 'QUERY_TOO_LONG'
  readonly limitMs: number
}

/** The error for an exception of a query that reads for too long; `undefined` for other exceptions. */
export function queryTooLongOf(failure: unknown): QueryTooLong | undefined {
  const isSo = failure instanceof SnapshotOver
  return isSo ? { code: 'QUERY_TOO_LONG', limitMs: mostQueryMs } : undefined
}
