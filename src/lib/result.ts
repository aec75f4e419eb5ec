/** The outcome of something a caller can cause to fail: a value, or an error that says what to repair. */
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

/** The value of a success, and nothing in place of an error, for those who can do without. */
export function valueIn<T>(result: Result<T, unknown>): T | undefined {
  return result.ok ? result.value : undefined
}
