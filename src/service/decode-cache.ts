import { LRUCache } from 'lru-cache'

/** Cache of decoded values of frequently read bytes. */

/** Returns the cached value of an id if it was decoded from the same bytes; otherwise decodes and caches it. */
export type DecodeCache<K, V> = (id: K, bytes: Uint8Array, decode: () => V) => V

/** Creates a cache of about `maxSize` bytes. Callers share its values, so they must not change them. */
export function createDecodeCache<K extends string, V>(maxSize: number): DecodeCache<K, V> {
  const cache = new LRUCache<K, { readonly bytes: Uint8Array; readonly value: V }>({
    maxSize,
    // Approximate size of the decoded objects.
    sizeCalculation: ({ bytes }) => 500 + 12 * bytes.length,
  })

  return (id, bytes, decode) => {
    const known = cache.get(id)
    if (known !== undefined && isSame(known.bytes, bytes)) return known.value
    const value = decode()
    cache.set(id, { bytes, value })
    return value
  }
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one === other || Buffer.compare(one, other) === 0
}
