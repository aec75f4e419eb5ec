/** An iterator that a consumer can stop while it waits for the next value. */

/**
 * Runs a generator under a signal that `return()` fires. A plain async generator keeps `return()` waiting until its
 * current `await` is over, which for a quiet feed may be hours.
 */
export function stoppable<T>(
  start: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>,
): AsyncIterableIterator<T, void, undefined> {
  const controller = new AbortController()
  const values = start(controller.signal)

  async function stop(): Promise<IteratorReturnResult<void>> {
    controller.abort()
    await values.return()
    return { done: true, value: undefined }
  }

  return {
    next: () => values.next(),
    return: stop,
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
