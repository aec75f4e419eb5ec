import type { Log } from './log.ts'

/** Logs the beginning and the end of an outage once each, however many failures there are in between. */

/** A condition that fails for a while, during which the gateway continues. */
export interface Outage {
  /** Reports a failure. The first one logs the beginning of the outage. */
  failed(reason: string): void
  /** Reports a success. The first one after a failure logs the end of the outage. */
  recovered(): void
}

/** The names of the two log events. */
export interface OutageEvents {
  /** Warning with the reason. */
  readonly began: string
  /** Information with the duration in milliseconds. */
  readonly over: string
}

/** Creates an outage that has not begun. */
export function createOutage(log: Pick<Log, 'info' | 'warn'>, events: OutageEvents): Outage {
  let since: number | undefined

  function failed(reason: string): void {
    if (since !== undefined) return
    since = performance.now()
    log.warn(events.began, { reason })
  }

  function recovered(): void {
    if (since === undefined) return
    log.info(events.over, { lastedMs: Math.round(performance.now() - since) })
    since = undefined
  }

  return { failed, recovered }
}
