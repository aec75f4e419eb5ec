import { isStoreAway } from '../../store/faults.ts'
import { SnapshotOver } from '../../store/snapshot-session.ts'
import { maxQueryMs } from './query-time.ts'

/** The database is away, restarting or overloaded. The request may have been executed: a client that submitted has to check. */
export interface DatabaseAway {
  readonly code: 'STORE_AWAY'
}

/** The error for an exception after which a retry may succeed; `undefined` for other exceptions. */
export function storeAwayOf(failure: unknown): DatabaseAway | undefined {
  return isStoreAway(failure) ? { code: 'STORE_AWAY' } : undefined
}

/** A query exceeded its time limit, and the snapshot that it reads may be closed. */
export interface QueryTooLong {
  readonly code: 'QUERY_TOO_LONG'
  readonly limitMs: number
}

/** The error for an exception of a query that reads for too long; `undefined` for other exceptions. */
export function queryTooLongOf(failure: unknown): QueryTooLong | undefined {
  if (!(failure instanceof SnapshotOver)) return undefined
  return { code: 'QUERY_TOO_LONG', limitMs: maxQueryMs }
}
