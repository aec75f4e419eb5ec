/** Whether two values of JSON data are deeply equal. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (!isObject(one) || !isObject(other)) return false
  const entries = Object.entries(one)
  const others = new Map(Object.entries(other))
  return (
    entries.length === others.size &&
    entries.every(([name, value]) => others.has(name) && isSame(value, others.get(name)))
  )
}

/** Whether a value of JSON data is an object or a list. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
