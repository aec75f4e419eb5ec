import { setTimeout as delay, setImmediate } from 'node:timers/promises'

/** How `until` waits. */
export interface Waiting {
  /** Names the condition in the failure; the text of `look` by default. */
  readonly what?: string
  /** Below the limit of a usual test, so that the failure names what was missing. */
  readonly deadlineMs?: number
}

/**
 * Repeats a look until it gives something, and gives that: neither `undefined` nor `false`. Rejects after the deadline and names
 * what it waited for.
 */
export async function until<T>(
  look: () => T | Promise<T>,
  { what = String(look), deadlineMs = 25_000 }: Waiting = {},
): Promise<Exclude<T, undefined | false>> {
  const begun = performance.now()
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found as Exclude<T, undefined | false>
    const waitedMs = performance.now() - begun
    if (waitedMs > deadlineMs) throw new Error(`waited ${deadlineMs} ms in vain until ${what}`)
    // What happens inside this process is there after a few turns; what another one does takes milliseconds.
    await (waitedMs < 20 ? setImmediate() : delay(10))
  }
}
