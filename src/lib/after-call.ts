/** Wraps a call so that `then` gets each result before the caller does. */
export function afterCall<A extends readonly unknown[], T>(
  call: (...args: A) => Promise<T>,
  then: (result: T) => unknown,
): (...args: A) => Promise<T> {
  return async (...args) => {
    const result = await call(...args)
    await then(result)
    return result
  }
}
