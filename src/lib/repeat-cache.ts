import { crc32 } from 'node:zlib'
import type { LRUCache } from 'lru-cache'
import { createHashSet } from './hash-set.ts'

/**
 * A cache of values that are requested repeatedly. Most values are requested only once. If each was cached, it would live just long enough to
 * be moved to V8's old objects, whose collection costs more than reading it again.
 */
export interface RepeatCache<K, V> {
  get(key: K): V | undefined
  /** Caches the value if this is not the first call with its key. */
  add(key: K, value: V): void
}

/** Creates the cache. Numbers as keys are integers from 0. */
export function repeatCache<K extends string | number, V extends NonNullable<unknown>>(
  values: LRUCache<K, V>,
): RepeatCache<K, V> {
  const added = createHashSet(rememberedKeys)
  return {
    get: (key) => values.get(key),
    add: (key, value) => {
      const hash = typeof key === 'number' ? key : crc32(key)
      if (added.has(hash)) values.set(key, value)
      else added.add(hash)
    },
  }
}

/** Number of keys that are remembered: about as many as the caches have values. */
const rememberedKeys = 4_096
