/** A map that remembers only the newest entries. */
export interface BoundedMap<K, V> {
  get(key: K): V | undefined
  /** Adds an entry, or makes one the newest again; the oldest goes where there are more than the limit. */
  set(key: K, value: V): void
  /** Forgets an entry, if it is there. */
  delete(key: K): void
  /** Forgets all entries. */
  clear(): void
}

/** Remembers at most `limit` entries. */
export function createBoundedMap<K, V>(limit: number): BoundedMap<K, V> {
  const entries = new Map<K, V>()

  function add(key: K, value: V): void {
    entries.delete(key)
    entries.set(key, value)
    for (const oldest of entries.keys()) {
      if (entries.size <= limit) return
      entries.delete(oldest)
    }
  }

  return {
    get: (key) => entries.get(key),
    set: add,
    delete: (key) => {
      entries.delete(key)
    },
    clear: () => entries.clear(),
  }
}
