import { err, ok, type Result } from '../lib/result.ts'

/** What reading lines of JSON has in common, for whichever tool answers them. */

/** A line that holds no JSON object. */
export interface LineNotJson {
  readonly code: 'LINE_NOT_JSON'
}

/** A kind that there is not. */
export interface KindUnknown {
  readonly code: 'KIND_UNKNOWN'
  readonly path: 'kind'
  readonly known: readonly string[]
}

/** The members of the object that a line holds. */
export function readLine(line: string): Result<Readonly<Record<string, unknown>>, LineNotJson> {
  try {
    const json: unknown = JSON.parse(line)
    const isObject = typeof json === 'object' && json !== null && !Array.isArray(json)
    return isObject ? ok({ ...json }) : err({ code: 'LINE_NOT_JSON' })
  } catch {
    // The parser has no other way to say no.
    return err({ code: 'LINE_NOT_JSON' })
  }
}

/** Looks up what answers a kind of input. */
export function ofKind<T>(
  answerers: ReadonlyMap<string, T>,
  kind: unknown,
): Result<T, KindUnknown> {
  const found = answerers.get(String(kind))
  const known = [...answerers.keys()]
  return found === undefined ? err({ code: 'KIND_UNKNOWN', path: 'kind', known }) : ok(found)
}

/** Why a line was not answered, as a sentence. */
export function lineMessage(error: LineNotJson | KindUnknown): string {
  return error.code === 'LINE_NOT_JSON'
    ? 'the line is no JSON object'
    : `kind must be one of ${error.known.join(', ')}`
}
