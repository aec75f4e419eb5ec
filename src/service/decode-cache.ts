import { LRUCache } from 'lru-cache'

/** What bytes mean that are read again and again, by their ids. */

/** The value of some bytes: that of the last time, where it was made of the same bytes. */
export type DecodeCache<K, V> = (id: K, bytes: Uint8Array, decode: () => V) => V

/** A cache of about so many bytes. Its values are shared, so they must not be changed. */
export function createDecodeCache<K extends string, V>(maxSize: number): DecodeCache<K, V> {
  const kept = new LRUCache<K, { readonly bytes: Uint8Array; readonly value: V }>({
    maxSize,
    // As the objects of a value take.
    sizeCalculation: ({ bytes }) => 500 + 12 * bytes.length,
  })

  return (id, bytes, decode) => {
    const known = kept.get(id)
    if (known !== undefined && isSame(known.bytes, bytes)) return known.value
    const value = decode()
    kept.set(id, { bytes, value })
    return value
  }
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one === other || Buffer.compare(one, other) === 0
}
