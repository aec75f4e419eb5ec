import { parse, type Schema } from '../../src/protocol/schema/schema.ts'

/** Parses JSON that must be valid; an error fails the test with its code and path. */
export function parsed<T>(schema: Schema<T>, json: unknown): T {
  const value = parse(schema, json)
  if (!value.ok) throw new Error(`${value.error.path}: ${value.error.code}`)
  return value.value
}
