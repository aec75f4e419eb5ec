/** The part of a map or a cache that `getOrInsert` uses. */
interface Entries<K, V> {
  get(key: K): V | undefined
  set(key: K, value: NoInfer<V>): unknown
}

/**
 * Returns the value of a key, which is created and stored if there is none. Node 24 lacks `Map.prototype.getOrInsertComputed`, and a cache
 * is not a `Map`.
 */
export function getOrInsert<K, V>(entries: Entries<K, V>, key: K, create: () => NoInfer<V>): V {
  const known = entries.get(key)
  if (known !== undefined) return known
  const value = create()
  entries.set(key, value)
  return value
}
