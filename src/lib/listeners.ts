/** Functions that are called when something has happened. */
export interface Listeners<T> {
  /** Adds a listener; the returned function removes it. */
  add(listener: (value: T) => void): () => void
  /** Calls those that were there at the beginning of the call. */
  notify(value: T): void
}

/** Creates an empty list. A listener must not throw. */
export function createListeners<T>(): Listeners<T> {
  const listeners = new Set<(value: T) => void>()
  return {
    add: (listener) => {
      // A function of its own: the same one may be added twice, and each removal removes one.
      const own = (value: T) => listener(value)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    notify: (value) => {
      for (const listener of [...listeners]) listener(value)
    },
  }
}
