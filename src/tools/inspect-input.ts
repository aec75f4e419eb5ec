import { bytesToHex, type Hex, hexToBytes, isHex } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { locate } from '../protocol/schema/offset.ts'
import {
  decodeOrParse,
  encode,
  type Form,
  type Json,
  print,
  type Schema,
} from '../protocol/schema/schema.ts'
import { sdkProblems } from '../protocol/sdk-rules.ts'
import type { InspectError } from './inspect-errors.ts'

/** The input and the output of inspections. */

/** An input line as an object: `kind`, `params`, and the members that contain the value. */
export type Input = Readonly<Record<string, unknown>>

/** The facts about a value, with the members of the test vectors of its kind. */
export interface Facts {
  readonly [member: string]: Json
}

/** The facts about a value, or the error. */
export type InspectResult = Result<Facts, InspectError>

/** Reads the form of the value: the member `json`, or else `bytes`. */
export function readForm(input: Input): Result<Form, InspectError> {
  const { json, bytes } = input
  if (bytes === undefined || (json !== undefined && json !== null)) {
    if (json !== undefined) return ok({ form: 'json', json })
    const expected = 'the value as JSON, or bytes with its serialization'
    return err({ code: 'INPUT_MISSING', path: 'json', expected })
  }
  if (typeof bytes !== 'string' || !isHex(bytes)) return err({ code: 'JSON_HEX', path: 'bytes' })
  return ok({ form: 'bytes', bytes: hexToBytes(bytes as Hex) })
}

/** Reads a value with its given bytes or the serialization of its JSON. Rules that only the official SDK has apply too. */
export function readValue<T>(
  schema: Schema<T>,
  input: Input,
): Result<{ readonly value: T; readonly bytes: Uint8Array }, InspectError> {
  const given = readForm(input)
  if (!given.ok) return given
  const { form } = given.value
  const value = decodeOrParse(schema, given.value)
  if (!value.ok) return value
  const bytes = form === 'bytes' ? given.value.bytes : encode(schema, value.value)
  const [problem] = sdkProblems(schema, value.value)
  if (problem === undefined) return ok({ value: value.value, bytes })
  const offset = form === 'bytes' ? { offset: locate(schema, bytes, problem.path) } : {}
  return err({ ...problem, ...offset })
}

/** Reads a value, and returns its forms and the facts about it. */
export function inspectValue<T>(
  schema: Schema<T>,
  input: Input,
  factsOf: (value: T) => Facts,
): InspectResult {
  const read = readValue(schema, input)
  if (!read.ok) return read
  const { value, bytes } = read.value
  return ok({ json: print(schema, value), bytes: bytesToHex(bytes), ...factsOf(value) })
}
