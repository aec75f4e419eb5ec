import { assert } from '../lib/assert.ts'
import { decode, type Schema } from './schema/schema.ts'

/** Decodes bytes of the database, which were checked before they were stored. */
export function decodeStored<T>(
  schema: Schema<T> & { readonly name: string },
  bytes: Uint8Array,
): T {
  const decoded = decode(schema, bytes)
  assert(decoded.ok, `a stored ${schema.name} decodes`)
  return decoded.value
}
