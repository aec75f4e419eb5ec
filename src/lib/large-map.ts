/**
 * A map with text keys that is split into parts. A plain map that grows moves all its entries at once, which blocks the event loop for
 * some 30 ms at 200,000 entries. This map moves the entries of one part at a time.
 */
export interface LargeMap<K extends string, V> {
  get(key: K): V | undefined
  set(key: K, value: V): void
  /** Returns the keys in no particular order. */
  keys(): Iterable<K>
  values(): Iterable<V>
  [Symbol.iterator](): Iterator<readonly [K, V]>
}

/** Creates an empty map. */
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

/** Chooses the part by two digits, because ids and addresses are hashes after a short prefix. All shorter keys are in one part. */
function partNumber(key: string): number {
  return (31 * (key.charCodeAt(14) & 31) + (key.charCodeAt(15) & 31)) % partCount
}
