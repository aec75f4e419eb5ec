/** Returns a copy of JSON with one part replaced. `path` has the form of the paths in errors. */
export function edited(json: unknown, path: string, change: (part: unknown) => unknown): unknown {
  const [key = '', ...rest] = path.split('.')
  const part: unknown = Reflect.get(Object(json), key)
  const next = rest.length === 0 ? change(part) : edited(part, rest.join('.'), change)
  return Array.isArray(json) ? json.with(Number(key), next) : { ...Object(json), [key]: next }
}
