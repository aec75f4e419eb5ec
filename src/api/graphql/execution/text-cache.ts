import { LRUCache } from 'lru-cache'
import { repeatCache } from '../../../lib/repeat-cache.ts'

/** A cache of values derived from texts. It is bounded by the lengths of the texts, because the size of a value grows with its text. */

/** Values by text. The least recently used values are evicted first. */
export interface TextCache<V> {
  get(text: string): V | undefined
  /** Caches a value, unless its text alone exceeds the capacity. */
  set(text: string, value: V): void
}

/** Creates a cache. `capacity` is the total number of characters of its texts. */
export function createTextCache<V extends NonNullable<unknown>>(
  capacity: number,
): LRUCache<string, V> {
  // Each entry has overhead, even if its text is short.
  return new LRUCache<string, V>({
    maxSize: capacity,
    sizeCalculation: (_value, text) => text.length + 100,
  })
}

/**
 * Creates a cache of the values of texts that are set repeatedly. A value of a text that is set once is only cached among the newest ones,
 * where a request that fails finds it again, so that it does not live until V8 moves it to its old objects. The value of a long text is
 * cached at once, because it takes long to make. `capacity` is the total number of characters, more than 16,384.
 */
export function createRepeatedTextCache<V extends NonNullable<unknown>>(
  capacity: number,
): TextCache<V> {
  const newest = createTextCache<V>(newestCharacters)
  const values = createTextCache<V>(capacity - newestCharacters)
  const repeated = repeatCache(values)
  return {
    get: (text) => values.get(text) ?? newest.get(text),
    set: (text, value) => {
      if (text.length > longText) {
        values.set(text, value)
        return
      }
      newest.set(text, value)
      repeated.add(text, value)
    },
  }
}

/** Characters of the newest texts: those of the requests that are in progress. With four times as many, a request takes a fifth longer. */
const newestCharacters = 16_384

/** Characters of a text whose value is cached at once. */
const longText = 4_096
