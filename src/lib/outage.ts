import type { Log } from './log.ts'

/** Says in the log when something begins to fail and when it is over: once each, however often it fails in between. */

/** Something that fails now and then, and the gateway goes on without it. */
export interface Outage {
  /** It failed, and why. */
  failed(reason: string): void
  /** It went well. */
  recovered(): void
}

/** The names of the two lines. */
export interface OutageEvents {
  /** A warning, with the reason. */
  readonly began: string
  /** With how long it lasted, in milliseconds. */
  readonly over: string
}

/** A trouble that has not begun. */
export function createOutage(log: Pick<Log, 'info' | 'warn'>, events: OutageEvents): Outage {
  let since: number | undefined

  function failed(reason: string): void {
    if (since !== undefined) return
    since = performance.now()
    log.warn(events.began, { reason })
  }

  function went(): void {
    if (since === undefined) return
    log.info(events.over, { lastedMs: Math.round(performance.now() - since) })
    since = undefined
  }

  return { failed, recovered: went }
}
