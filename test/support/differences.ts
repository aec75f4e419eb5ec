import { isDeepStrictEqual } from 'node:util'

/** Returns one line with the actual and the expected value, or none if they are equal. The order of members does not matter. */
export function differences(what: string, actual: unknown, expected: unknown): readonly string[] {
  if (isDeepStrictEqual(actual, expected)) return []
  return [`${what}: ${excerpt(actual)} instead of ${excerpt(expected)}`]
}

function excerpt(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}
