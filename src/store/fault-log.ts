import type { Log } from '../lib/log.ts'
import { createOutage } from '../lib/outage.ts'
import { inSpan, type SpanOptions } from '../lib/tracing.ts'
import type { Store, StoreReader } from './contract.ts'
import { type StoreFault, storeFaultOf } from './faults.ts'

/**
 * Wraps a store so that it logs the beginning and the end of its faults: the database is unreachable, not writable, unresponsive, or
 * damaged. Each fault is logged once, however many calls fail, so callers need not log these failures. Each call is a span of
 * a trace, and its duration is reported.
 *
 * A successful call proves that the database is reachable only if it reads the database. Reads of immutable rows may come from a cache,
 * and a read of no ids needs no database. `logTip` reads the database every time, and every process calls it every second, so only
 * `logTip` ends the fault AWAY.
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
  /** Wrapped readers of the snapshot connections. */
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

/** Wraps a reader so that each read is a span of a trace, and its duration is reported. */
export function timedReads(read: StoreReader, onCall: OnStoreCall = () => {}): StoreReader {
  return observed(read, {
    failed: () => {},
    succeeded: () => {},
    ended: (call, ms) => onCall('read', call, ms),
    attributes: { 'db.system.name': 'postgresql' },
  })
}

/** Called after each call of the store, whether it succeeded or failed, with its duration in milliseconds. */
export type OnStoreCall = (side: 'read' | 'write', call: string, ms: number) => void

/** Receives the outcome of each call, and the time at which the call began. */
interface CallObserver extends Pick<SpanOptions, 'attributes'> {
  failed(failure: unknown, begunAt: number): void
  succeeded(begunAt: number): void
  ended(call: string, ms: number): void
}

/** Wraps calls so that an observer receives their outcomes. */
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
        failed(failure, begunAt)
        throw failure
      } finally {
        ended(name, performance.now() - begunAt)
      }
    },
  ])
  return Object.fromEntries(all)
}

/** Logs the beginning and the end of each fault, once each. */
function createFaultLog(log: Pick<Log, 'info' | 'error'>) {
  const openFaults = new Map<StoreFault, OpenFault>()

  function failed(failure: unknown, begunAt: number): void {
    const fault = storeFaultOf(failure)
    if (fault === undefined) return
    const latest = performance.now()
    const tookMs = latest - begunAt
    const open = openFaults.get(fault)
    if (open !== undefined) {
      Object.assign(open, { latest, tookMs, answeredAt: undefined })
      return
    }
    openFaults.set(fault, { since: latest, latest, tookMs, answeredAt: undefined })
    log.error(events[fault].began, { error: failure })
  }

  /** Called when the database has answered a read that began at `begunAt`. */
  function answered(begunAt: number): void {
    const away = openFaults.get('AWAY')
    // If a read began before the latest failure, a server that is gone now may have answered it.
    if (away === undefined || begunAt < away.latest) return
    away.answeredAt ??= performance.now()
    // A server that shuts down closes its connections one by one, and still answers on the last of them. A call that waited for a lock
    // before it failed takes as long again to fail once more, while the server answers others.
    if (begunAt < away.latest + awayCalmMs + away.tookMs) return
    over('AWAY', { awayMs: Math.round(away.answeredAt - away.since) })
  }

  /** Called when a write that began at `begunAt` has succeeded. */
  function written(begunAt: number): void {
    for (const fault of ['NOT_WRITABLE', 'REWOUND'] as const) {
      const open = openFaults.get(fault)
      // A short write may succeed on a disk on which a longer write fails.
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

/** A fault that is not over. Times are milliseconds of the monotonic clock. */
interface OpenFault {
  readonly since: number
  /** Time of the latest failure. */
  latest: number
  /** Milliseconds that the latest call took to fail. */
  tookMs: number
  /** Time of the first answer after the latest failure. */
  answeredAt: number | undefined
}

/** Wraps `logTip`, which every process calls every second, to log when the database stops answering and when it answers again. */
function logSilence(
  readTip: Store['read']['logTip'],
  log: Pick<Log, 'info' | 'warn' | 'error'>,
): Store['read']['logTip'] {
  const silence = createOutage(log, { began: 'database-silent', over: 'database-answers' })
  /** Time at which the newest answered read began. */
  let answeredSince = 0

  return async () => {
    const begunAt = performance.now()
    const late = setTimeout(() => {
      // If a newer read was answered, only this read is lost, and the database does answer.
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

/** Names of the log events. Damage has no end, even if later calls do not read the damaged part. */
const events = {
  AWAY: { began: 'database-away', over: 'database-back' },
  NOT_WRITABLE: { began: 'database-not-writable', over: 'database-writable' },
  DAMAGED: { began: 'database-damaged' },
  REWOUND: { began: 'history-rewound', over: 'history-settled' },
} as const

/** Milliseconds without a failure before a fault is over. The renewal of the lease, once per second, may be the only call that fails. */
const awayCalmMs = 2_000
const writableCalmMs = 3_000
