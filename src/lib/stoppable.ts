/** Iterators that a consumer can stop while it waits for the next value. */

/**
 * Runs a generator with a signal that `return()` aborts. In a plain async generator `return()` waits for the current `await`, which may
 * take hours in a quiet feed.
 */
export function stoppable<T>(
  start: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>,
): AsyncIterableIterator<T, void, undefined> {
  const controller = new AbortController()
  const values = start(controller.signal)

  async function next(): Promise<IteratorResult<T, void>> {
    try {
      return await values.next()
    } catch (failure) {
      // The consumer has stopped: an error would be reported under an id that may be in use again.
      if (controller.signal.aborted) return { done: true, value: undefined }
      throw failure
    }
  }

  async function stop(): Promise<IteratorReturnResult<void>> {
    controller.abort()
    await values.return()
    return { done: true, value: undefined }
  }

  return {
    next,
    return: stop,
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
