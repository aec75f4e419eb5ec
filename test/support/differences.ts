import { isDeepStrictEqual } from 'node:util'

/** One line that says what is instead of what should be; none when they are equal, whatever the member order. */
export function differences(what: string, actual: unknown, expected: unknown): readonly string[] {
  if (isDeepStrictEqual(actual, expected)) return []
  return [`${what}: ${excerpt(actual)} instead of ${excerpt(expected)}`]
}

function excerpt(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}
