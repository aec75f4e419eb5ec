/** The outcome of an operation that a caller can cause to fail: a value, or an error that describes what the caller has to fix. */
export type Result<T, E> = Ok<T> | Err<E>

/** The value of a success. */
export interface Ok<T> {
  readonly ok: true
  readonly value: T
}

/** The error of a failure. */
export interface Err<E> {
  readonly ok: false
  readonly error: E
}

/** Wraps a success. */
export function ok<T>(value: T): Ok<T> {
  return { ok: true, value }
}

/** Wraps an expected failure. */
export function err<E>(error: E): Err<E> {
  return { ok: false, error }
}

/** Returns the value of a success, or `undefined` for an error. */
export function valueIn<T>(result: Result<T, unknown>): T | undefined {
  return result.ok ? result.value : undefined
}
