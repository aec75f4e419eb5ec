/** Throws when an invariant of this program does not hold. Never use it for input of a caller. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}

/** Returns the value. Throws when it is missing, which is a bug of this program. */
export function present<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new Error(`assertion failed: ${what} is missing`)
  return value
}
