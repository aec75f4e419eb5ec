import { isStoreAway } from '../../store/faults.ts'

/** The database is away, restarting or overloaded. The request may have been carried out: a client that submitted asks again. */
export interface DatabaseAway {
  readonly code: 'STORE_AWAY'
}

/** The error for an exception after which the same request may succeed a moment later; `undefined` for other exceptions. */
export function storeAwayOf(failure: unknown): DatabaseAway | undefined {
  return isStoreAway(failure) ? { code: 'STORE_AWAY' } : undefined
}
