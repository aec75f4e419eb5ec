import { LRUCache } from 'lru-cache'

/** A cache of values derived from texts. It is bounded by the lengths of the texts, because the size of a value grows with its text. */

/** Values by text. The least recently used values are evicted first. */
export interface TextCache<V> {
  get(text: string): V | undefined
  /** Caches a value, unless its text alone exceeds the capacity. */
  set(text: string, value: V): void
}

/** Creates a cache. `capacity` is the total number of characters of its texts. */
export function createTextCache<V extends NonNullable<unknown>>(capacity: number): TextCache<V> {
  // Each entry has overhead, even if its text is short.
  return new LRUCache<string, V>({
    maxSize: capacity,
    sizeCalculation: (_value, text) => text.length + 100,
  })
}
