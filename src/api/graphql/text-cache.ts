import { LRUCache } from 'lru-cache'

/** A cache of what texts mean, bounded by the length of the texts: what is made of one is as large as the text is long. */

/** Values by text; the least recently used go first. */
export interface TextCache<V> {
  get(text: string): V | undefined
  /** Keeps a value, unless its text alone is longer than the cache may be. */
  set(text: string, value: V): void
}

/** A cache of texts with so many characters in all. */
export function createTextCache<V extends NonNullable<unknown>>(capacity: number): TextCache<V> {
  // An entry has a size also where its text is short.
  return new LRUCache<string, V>({
    maxSize: capacity,
    sizeCalculation: (_value, text) => text.length + 100,
  })
}
