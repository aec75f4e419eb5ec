/** Throws when our own reasoning was wrong; never for what a caller sent. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}

/** The value, which our own reasoning says is there. */
export function present<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new Error(`assertion failed: ${what} is missing`)
  return value
}
