import type { Log } from '../lib/log.ts'
import { createOutage } from '../lib/outage.ts'
import { inSpan, type SpanOptions } from '../lib/tracing.ts'
import type { Store, StoreReader } from './contract.ts'
import { type StoreFault, storeFaultOf } from './faults.ts'

/**
 * The same store with a log of its faults: that the database is lost and found again, that it cannot be written and can be
 * again, that it does not answer, and that it is damaged. Each is logged once, however many calls fail meanwhile, so callers
 * need not log these failures. Each call is a span of a trace, and its duration is reported.
 *
 * An answer proves that the database is reachable only if the call reads the database. Reads of what never changes are
 * answered from memory, and a list of no ids by itself; `logTip` reads the database every time, and every
 * process calls it every second. So only its answers end the fault AWAY.
 */
export function logStoreFaults(
  store: Store,
  log: Pick<Log, 'info' | 'warn' | 'error'>,
  onCall: OnStoreCall = () => {},
): Store {
  const { failed, answered, written } = createFaultLog(log)
  const attributes = { 'db.system.name': store.isShared ? 'postgresql' : 'sqlite' }
  const ended = (call: string, ms: number) => onCall('read', call, ms)
  const observer = { failed, succeeded: () => {}, ended, attributes }
  const { logTip } = observed({ logTip: store.read.logTip }, { ...observer, succeeded: answered })
  const read = {
    ...observed(store.read, observer),
    logTip: logSilence(logTip, log),
  }
  /** Of the connections that hold snapshots. */
  const observedReads = new WeakMap<StoreReader, StoreReader>()
  const { snapshot } = observed(
    {
      snapshot: async () => {
        const begun = await store.snapshot()
        const known = observedReads.get(begun.read) ?? observed(begun.read, observer)
        observedReads.set(begun.read, known)
        return { ...begun, read: known }
      },
    },
    observer,
  )
  const write = observed(store.write, {
    ...observer,
    succeeded: written,
    ended: (call, ms) => onCall('write', call, ms),
  })
  return { ...store, read, primary: read, snapshot, write }
}

/** The same reads, each a span of a trace, whose durations are reported. */
export function timedReads(read: StoreReader, onCall: OnStoreCall = () => {}): StoreReader {
  return observed(read, {
    failed: () => {},
    succeeded: () => {},
    ended: (call, ms) => onCall('read', call, ms),
    attributes: { 'db.system.name': 'postgresql' },
  })
}

/** Called after each call of the store, whatever its outcome, with its duration in milliseconds. */
export type OnStoreCall = (side: 'read' | 'write', call: string, ms: number) => void

/** What is called with each outcome of a call, and when the call was begun. */
interface CallObserver extends Pick<SpanOptions, 'attributes'> {
  failed(failure: unknown): void
  succeeded(begunAt: number): void
  ended(call: string, ms: number): void
}

/** The same calls with an observer. */
function observed<T extends object>(
  calls: T,
  { failed, succeeded, ended, attributes }: CallObserver,
): T {
  const span: SpanOptions = { kind: 'client', isInner: true, ...(attributes && { attributes }) }
  const all = Object.entries(calls).map(([name, call]) => [
    name,
    async (...args: unknown[]) => {
      const begunAt = performance.now()
      try {
        const answer = await inSpan(`store ${name}`, async () => call(...args), span)
        succeeded(begunAt)
        return answer
      } catch (failure) {
        failed(failure)
        throw failure
      } finally {
        ended(name, performance.now() - begunAt)
      }
    },
  ])
  return Object.fromEntries(all)
}

/** Logs each fault once when it begins, and once when it is over. */
function createFaultLog(log: Pick<Log, 'info' | 'error'>) {
  const openFaults = new Map<StoreFault, OpenFault>()

  function failed(failure: unknown): void {
    const fault = storeFaultOf(failure)
    if (fault === undefined) return
    const now = performance.now()
    const open = openFaults.get(fault)
    if (open !== undefined) {
      open.latest = now
      open.answeredAt = undefined
      return
    }
    openFaults.set(fault, { since: now, latest: now, answeredAt: undefined })
    log.error(events[fault].began, { error: failure })
  }

  /** The database has answered a read. */
  function answered(begunAt: number): void {
    const away = openFaults.get('AWAY')
    // A read that was begun before the latest failure may have been answered by a server that is gone now.
    if (away === undefined || begunAt < away.latest) return
    away.answeredAt ??= performance.now()
    // A server that stops ends its connections one by one, and answers on the last of them.
    if (begunAt < away.latest + awayCalmMs) return
    over('AWAY', { awayMs: Math.round(away.answeredAt - away.since) })
  }

  /** A write has succeeded. */
  function written(begunAt: number): void {
    for (const fault of ['NOT_WRITABLE', 'REWOUND'] as const) {
      const open = openFaults.get(fault)
      // A short write may still find room where a longer one does not.
      if (open === undefined || begunAt < open.latest + writableCalmMs) continue
      over(fault, { lastedMs: Math.round(performance.now() - open.since) })
    }
  }

  function over(
    fault: Exclude<StoreFault, 'DAMAGED'>,
    fields: { readonly [name: string]: number },
  ): void {
    openFaults.delete(fault)
    log.info(events[fault].over, fields)
  }

  return { failed, answered, written }
}

/** A fault that has begun and is not over, by moments of the monotonic clock in milliseconds. */
interface OpenFault {
  readonly since: number
  /** The latest failure. */
  latest: number
  /** The first answer of the database since then. */
  answeredAt: number | undefined
}

/** Logs that the database does not answer, and that it answers again: every process reads the tip every second. */
function logSilence(
  readTip: Store['read']['logTip'],
  log: Pick<Log, 'info' | 'warn' | 'error'>,
): Store['read']['logTip'] {
  const silence = createOutage(log, { began: 'database-silent', over: 'database-answers' })
  /** When the newest answered read was begun. */
  let answeredSince = 0

  return async () => {
    const begunAt = performance.now()
    const late = setTimeout(() => {
      // A newer read was answered: this one is lost, and the database does answer.
      if (begunAt >= answeredSince) silence.failed(`no answer within ${silentMs} ms`)
    }, silentMs)
    late.unref()
    try {
      const tip = await readTip()
      answeredSince = Math.max(answeredSince, begunAt)
      silence.recovered()
      return tip
    } finally {
      clearTimeout(late)
    }
  }
}

const silentMs = 3_000

/** What is damaged stays so, even where the next call reads past it. */
const events = {
  AWAY: { began: 'database-away', over: 'database-back' },
  NOT_WRITABLE: { began: 'database-not-writable', over: 'database-writable' },
  DAMAGED: { began: 'database-damaged' },
  REWOUND: { began: 'history-rewound', over: 'history-settled' },
} as const

/** So long nothing has failed before it is over. The writer renews its lease every second, and that may fail alone. */
const awayCalmMs = 2_000
const writableCalmMs = 3_000
