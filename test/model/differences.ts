/** Collects the differences between what the program stored or answered and what the model computed. */
export interface Differences {
  /** Compares two values, and records the first difference between them. Returns whether they are equal. */
  equal(what: string, actual: unknown, expected: unknown): boolean
  /** Compares two maps key by key: missing, additional and different entries. */
  equalMaps<V>(what: string, actual: ReadonlyMap<string, V>, expected: ReadonlyMap<string, V>): void
  /** The number of comparisons so far. A run that compared nothing proves nothing. */
  compared(): number
  /** One line for each difference, in the order of their discovery. */
  readonly found: readonly string[]
}

/** Starts without differences. */
export function createDifferences(): Differences {
  const found: string[] = []
  let compared = 0

  function equal(what: string, actual: unknown, expected: unknown): boolean {
    compared++
    const first = firstDifference(plainOf(actual), plainOf(expected), '')
    if (first === undefined) return true
    const [a, b] = [first.actual, first.expected].map((one) => JSON.stringify(one) ?? 'nothing')
    found.push(`${what}${first.path}: the program has ${a}, the model has ${b}`)
    return false
  }

  function equalMaps<V>(
    what: string,
    actual: ReadonlyMap<string, V>,
    expected: ReadonlyMap<string, V>,
  ): void {
    for (const key of new Set([...expected.keys(), ...actual.keys()])) {
      equal(`${what} ${key}`, actual.get(key), expected.get(key))
    }
  }

  return { equal, equalMaps, compared: () => compared, found }
}

/** A value as JSON has it, with the digits of bigints. Members that are `undefined` are left out. */
function plainOf(value: unknown): unknown {
  const text = JSON.stringify(value, function (this: Record<string, unknown>, key, one) {
    // Not `one`: once it is loaded, the official SDK gives bigints a `toJSON` of its own.
    const own = this[key]
    return typeof own === 'bigint' ? `${own}` : one
  })
  return text === undefined ? undefined : JSON.parse(text)
}

interface Difference {
  readonly path: string
  readonly actual: unknown
  readonly expected: unknown
}

function firstDifference(actual: unknown, expected: unknown, path: string): Difference | undefined {
  if (actual === expected) return undefined
  if (!isObject(actual) || !isObject(expected)) return { path, actual, expected }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const below = firstDifference(actual[key], expected[key], `${path} ${key}`)
    if (below !== undefined) return below
  }
  return undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
