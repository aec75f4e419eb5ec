import { err, ok, type Result } from '../../../lib/result.ts'
import type { Schema } from '../../../protocol/schema/schema.ts'
import { parse } from '../../../protocol/schema/schema.ts'
import { param, type RestRequest } from '../route.ts'

/** Identifiers in paths, and what the node answers where nothing stands behind one. */

/** The text in the path is no identifier of that kind. */
export interface PathIdMalformed {
  readonly code: 'PATH_ID_MALFORMED'
  readonly name: string
  readonly bytes: number
}

/** The text in the path is no slot. */
export interface PathSlotMalformed {
  readonly code: 'PATH_SLOT_MALFORMED'
  readonly name: string
}

/** There is nothing with this identifier. */
export interface NotFound {
  readonly code: 'NOT_FOUND'
  readonly what: string
  readonly id: string
}

/** Reads an identifier of `bytes` bytes from the path. */
export function pathId<T>(
  request: RestRequest,
  name: string,
  schema: Schema<T> & { readonly max: number },
): Result<T, PathIdMalformed> {
  const id = parse(schema, param(request, name))
  return id.ok ? ok(id.value) : err({ code: 'PATH_ID_MALFORMED', name, bytes: schema.max })
}
