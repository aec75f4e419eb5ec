/** An event that asynchronous code waits for. */
export interface Signal {
  /** Ends all waits under way. Where there is none, the next wait ends at once, so no notification is lost. */
  notify(): void
  /** Resolves with `true` on a notification, with `false` at the deadline or on abort; never rejects. */
  wait(options?: WaitOptions): Promise<boolean>
  /** The number of waits under way. */
  waiting(): number
}

/** What ends a wait without a notification. */
export interface WaitOptions {
  /** The deadline, in milliseconds from now; left out: none. */
  readonly ms?: number
  readonly signal?: AbortSignal
}

/**
 * Creates a signal without a notification. Several waits may share it where each checks its condition right before it
 * waits: a notification that found no wait ends only the first of them.
 */
export function createSignal(): Signal {
  const waits = new Set<(isNotified: boolean) => void>()
  let isPending = false

  function notify(): void {
    isPending = waits.size === 0
    for (const end of [...waits]) end(true)
  }

  function wait({ ms, signal }: WaitOptions = {}): Promise<boolean> {
    if (isPending || signal?.aborted) {
      const isNotified = isPending
      isPending = false
      return Promise.resolve(isNotified)
    }
    return new Promise((resolve) => {
      const end = (isNotified: boolean) => {
        waits.delete(end)
        clearTimeout(timer)
        signal?.removeEventListener('abort', expire)
        resolve(isNotified)
      }
      const expire = () => end(false)
      const timer = ms === undefined ? undefined : setTimeout(expire, ms)
      signal?.addEventListener('abort', expire)
      waits.add(end)
    })
  }

  return { notify, wait, waiting: () => waits.size }
}
