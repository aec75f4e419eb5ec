/** Reads JSON whose shape is not known. */

/** Parses a text; `undefined` if it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // No JSON has this value, so the caller refuses it like any other wrong value.
    return undefined
  }
}

/** Whether a value is a JSON object, neither a list nor null. */
export function isJsonObject(json: unknown): json is object {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}

/** The members of an object; none of any other value. */
export function membersOf(json: unknown): Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null ? { ...json } : {}
}

/** Whether a value is a whole number of at least 0 that is exact in JavaScript. */
export function isCount(json: unknown): json is number {
  return Number.isSafeInteger(json) && Number(json) >= 0
}
