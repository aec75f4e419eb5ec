/**
 * A map by texts, in parts. A map that grows moves all its entries at once, which holds the event loop for some 30 ms where they are
 * 200,000; of this one a part moves at a time.
 */
export interface LargeMap<K extends string, V> {
  get(key: K): V | undefined
  set(key: K, value: V): void
  /** In no order. */
  keys(): Iterable<K>
  values(): Iterable<V>
  [Symbol.iterator](): Iterator<readonly [K, V]>
}

/** An empty one. */
export function createLargeMap<K extends string, V>(): LargeMap<K, V> {
  const parts: Map<K, V>[] = Array.from({ length: partCount }, () => new Map())
  const partOf = (key: K) => parts[partNumber(key)] ?? new Map<K, V>()

  return {
    get: (key) => partOf(key).get(key),
    set: (key, value) => void partOf(key).set(key, value),
    *keys() {
      for (const part of parts) yield* part.keys()
    },
    *values() {
      for (const part of parts) yield* part.values()
    },
    *[Symbol.iterator]() {
      for (const part of parts) yield* part
    },
  }
}

const partCount = 64

/** By two digits: ids and addresses are hashes behind a few letters. Keys that are shorter are all in one part. */
function partNumber(key: string): number {
  return (31 * (key.charCodeAt(14) & 31) + (key.charCodeAt(15) & 31)) % partCount
}
