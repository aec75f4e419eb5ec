import type { Log } from '../lib/log.ts'
import { isStoreAway } from './away.ts'
import type { Store } from './contract.ts'

/**
 * The same store, which says in the log when its database goes away and when it is back: once, however many calls fail in
 * between. Whoever else fails because of it need not say it again.
 */
export function reportAbsence(store: Store, log: Pick<Log, 'info' | 'error'>): Store {
  let awaySince: number | undefined

  function failed(failure: unknown): void {
    if (awaySince !== undefined || !isStoreAway(failure)) return
    awaySince = performance.now()
    log.error('database-away', { error: failure })
  }

  function answered(askedAt: number): void {
    // What was asked before may have been answered by the one that is gone.
    if (awaySince === undefined || askedAt < awaySince) return
    log.info('database-back', { awayMs: Math.round(performance.now() - awaySince) })
    awaySince = undefined
  }

  function watched<T extends object>(side: T): T {
    const calls = Object.entries(side).map(([name, call]) => [
      name,
      async (...words: unknown[]) => {
        const askedAt = performance.now()
        try {
          const answer = await call(...words)
          answered(askedAt)
          return answer
        } catch (failure) {
          failed(failure)
          throw failure
        }
      },
    ])
    return Object.fromEntries(calls)
  }

  return { ...store, read: watched(store.read), write: watched(store.write) }
}
