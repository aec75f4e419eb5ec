import { isJsonObject, parsedJson } from '../lib/json.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { SignatureCheckBusy } from '../node/signatures.ts'

/** Reads input lines of JSON, for all tools. */

export interface LineNotJson {
  readonly code: 'LINE_NOT_JSON'
}

export interface KindUnknown {
  readonly code: 'KIND_UNKNOWN'
  readonly path: 'kind'
  readonly known: readonly string[]
}

/** Parses a line to the members of its JSON object. */
export function readLine(line: string): Result<Readonly<Record<string, unknown>>, LineNotJson> {
  const json = parsedJson(line)
  return isJsonObject(json) ? ok({ ...json }) : err({ code: 'LINE_NOT_JSON' })
}

/** Returns the member `ref`, which the answer repeats; null if there is none, or if it is nested too deeply to be written. */
export function refOf({ ref = null }: Readonly<Record<string, unknown>>): unknown {
  try {
    JSON.stringify({ answer: { ref } })
    return ref
  } catch {
    // JSON is parsed with any number of levels, and written with as many as fit on the stack.
    return null
  }
}

/** Looks up the handler of a kind of input. */
export function ofKind<T>(handlers: ReadonlyMap<string, T>, kind: unknown): Result<T, KindUnknown> {
  const found = typeof kind === 'string' ? handlers.get(kind) : undefined
  const known = [...handlers.keys()]
  return found === undefined ? err({ code: 'KIND_UNKNOWN', path: 'kind', known }) : ok(found)
}

/** The message for a line that cannot be handled. The error table has the message of a full queue from here. */
export function lineMessage(error: LineNotJson | KindUnknown | SignatureCheckBusy): string {
  switch (error.code) {
    case 'LINE_NOT_JSON':
      return 'the line is not a JSON object'
    case 'KIND_UNKNOWN':
      return `kind must be one of ${error.known.join(', ')}`
    case 'SIGNATURE_CHECK_BUSY':
      return `${error.waiting} signature checks are already queued; try again later`
  }
}
