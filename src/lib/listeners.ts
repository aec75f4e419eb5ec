/** A list of functions that are called on an event. */
export interface Listeners<T> {
  /** Adds a listener; the returned function removes it. */
  add(listener: (value: T) => void): () => void
  /** Calls the listeners that exist when the call begins. */
  notify(value: T): void
}

/** Creates an empty list. A listener must not throw. */
export function createListeners<T>(): Listeners<T> {
  const listeners = new Set<(value: T) => void>()
  return {
    add: (listener) => {
      // A wrapper, because the same function may be added twice, and each removal removes one of the two.
      const own = (value: T) => listener(value)
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    notify: (value) => {
      for (const listener of [...listeners]) listener(value)
    },
  }
}
