/** Groups the elements of a list by a key, in the order of their first occurrence. */
export function groupBy<T, K>(list: readonly T[], keyOf: (one: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const one of list) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [one])
    else group.push(one)
  }
  return groups
}

/** How often each text occurs: compares lists without an order. */
export function countsOf(list: readonly string[]): Map<string, number> {
  return new Map([...groupBy(list, (text) => text)].map(([text, all]) => [text, all.length]))
}
