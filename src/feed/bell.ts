/** A wait that loses nothing: what rings before it begins ends it at once. */

/** Something that rings for one who waits now and then. */
export interface Bell {
  /** What rang so far counts no more. */
  hush(): void
  /** Whether it rang within some milliseconds; at once when it rang since `hush`. */
  wait(ms: number): Promise<boolean>
  /** Listens no more. */
  stop(): void
}

/** A bell that `listen` rings, and that lets nobody wait any more once the signal has fired. */
export function createBell(listen: (ring: () => void) => () => void, signal: AbortSignal): Bell {
  let hasRung = false
  let wake = () => {}
  const ring = () => {
    hasRung = true
    wake()
  }
  const stopListening = listen(ring)
  const onAbort = () => wake()
  signal.addEventListener('abort', onAbort)

  function wait(ms: number): Promise<boolean> {
    if (hasRung || signal.aborted) return Promise.resolve(hasRung)
    return new Promise((resolve) => {
      const timer = setTimeout(() => wake(), ms)
      wake = () => {
        wake = () => {}
        clearTimeout(timer)
        resolve(hasRung)
      }
    })
  }

  function stop(): void {
    stopListening()
    signal.removeEventListener('abort', onAbort)
  }

  return {
    hush: () => {
      hasRung = false
    },
    wait,
    stop,
  }
}
