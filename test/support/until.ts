import { setTimeout as delay, setImmediate } from 'node:timers/promises'

/** The options of `until`. */
export interface Waiting {
  /** The text of the condition in the error; the source of `look` by default. */
  readonly what?: string
  /** Shorter than the time limit of a usual test, so that the error names the condition. */
  readonly deadlineMs?: number
}

/**
 * Calls `look` until it returns neither `undefined` nor `false`, and resolves to that value. Rejects after the deadline with the
 * text of the condition.
 */
export async function until<T>(
  look: () => T | Promise<T>,
  { what = String(look), deadlineMs = 50_000 }: Waiting = {},
): Promise<Exclude<T, undefined | false>> {
  const begun = performance.now()
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found as Exclude<T, undefined | false>
    const waitedMs = performance.now() - begun
    if (waitedMs > deadlineMs) throw new Error(`waited ${deadlineMs} ms in vain until ${what}`)
    // An event in this process occurs within a few turns of the event loop; one in another process takes milliseconds.
    await (waitedMs < 20 ? setImmediate() : delay(10))
  }
}
