import type { Log } from '../lib/log.ts'
import { createTrouble } from '../lib/trouble.ts'
import { type StoreFault, storeFaultOf } from './away.ts'
import type { Store } from './contract.ts'

/**
 * The same store, which says in the log when its database goes away and when it is back, when it cannot be written and when
 * it can, that it does not answer at all, and that it is damaged: once each, however many calls fail in between. Whoever
 * else fails because of it need not say it again.
 */
export function reportAbsence(store: Store, log: Pick<Log, 'info' | 'warn' | 'error'>): Store {
  const troubles = new Map<StoreFault, { readonly since: number; latest: number }>()

  function failed(failure: unknown): void {
    const fault = storeFaultOf(failure)
    if (fault === undefined) return
    const now = performance.now()
    const trouble = troubles.get(fault)
    if (trouble !== undefined) {
      trouble.latest = now
      return
    }
    troubles.set(fault, { since: now, latest: now })
    log.error(events[fault].began, { error: failure })
  }

  function answered(side: 'read' | 'write', askedAt: number): void {
    if (troubles.size === 0) return
    const away = troubles.get('AWAY')
    // What was asked before may have been answered by the one that is gone.
    if (away !== undefined && askedAt >= away.since) {
      over('AWAY', { awayMs: Math.round(performance.now() - away.since) })
    }
    const unwritable = troubles.get('NOT_WRITABLE')
    // A short write may still find room where a longer one does not.
    if (unwritable !== undefined && side === 'write' && askedAt >= unwritable.latest + calmMs) {
      over('NOT_WRITABLE', { lastedMs: Math.round(performance.now() - unwritable.since) })
    }
  }

  function over(fault: 'AWAY' | 'NOT_WRITABLE', fields: { readonly [name: string]: number }): void {
    troubles.delete(fault)
    log.info(events[fault].over, fields)
  }

  function watched<T extends object>(side: 'read' | 'write', calls: T): T {
    const all = Object.entries(calls).map(([name, call]) => [
      name,
      async (...words: unknown[]) => {
        const askedAt = performance.now()
        try {
          const answer = await call(...words)
          answered(side, askedAt)
          return answer
        } catch (failure) {
          failed(failure)
          throw failure
        }
      },
    ])
    return Object.fromEntries(all)
  }

  const read = watched('read', store.read)
  const silence = createTrouble(log, { began: 'database-silent', over: 'database-answers' })

  /** What every process reads every second, and shortest of all: it tells of a database that does not even fail. */
  async function logTip(): ReturnType<Store['read']['logTip']> {
    const late = setTimeout(() => silence.failed(`no answer within ${silentMs} ms`), silentMs)
    late.unref()
    try {
      const tip = await read.logTip()
      silence.went()
      return tip
    } finally {
      clearTimeout(late)
    }
  }

  return { ...store, read: { ...read, logTip }, write: watched('write', store.write) }
}

const silentMs = 3_000

/** What is damaged stays so, even where the next call reads past it. */
const events = {
  AWAY: { began: 'database-away', over: 'database-back' },
  NOT_WRITABLE: { began: 'database-not-writable', over: 'database-writable' },
  DAMAGED: { began: 'database-damaged' },
} as const

/** So long nothing has failed before it is over; the writer renews its lease every second. */
const calmMs = 3_000
