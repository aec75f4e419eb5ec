import { isStoreAway } from '../../store/faults.ts'

/** The database is away, restarting or overrun. What was asked may have been done: whoever submitted asks again. */
export interface DatabaseAway {
  readonly code: 'STORE_AWAY'
}

/** What an exception says to a caller, where it says that the same may succeed a moment later. */
export function storeAwayOf(failure: unknown): DatabaseAway | undefined {
  return isStoreAway(failure) ? { code: 'STORE_AWAY' } : undefined
}
