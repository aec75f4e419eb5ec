/** An event that asynchronous code waits for. */
export interface Signal {
  /** Ends all current waits. If there is none, the next wait ends at once, so that no notification is lost. */
  notify(): void
  /** Resolves to `true` on a notification, and to `false` at the deadline or on abort. Never rejects. */
  wait(options?: WaitOptions): Promise<boolean>
  waiting(): number
}

/** Conditions that end a wait without a notification. */
export interface WaitOptions {
  /** Deadline in milliseconds from now. By default there is none. */
  readonly ms?: number
  readonly signal?: AbortSignal
}

/**
 * Creates a signal without a notification. Several callers may share it if each checks its condition right before it waits, because a
 * notification that found no wait ends only the first later wait.
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
