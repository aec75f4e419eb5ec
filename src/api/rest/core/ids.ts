import { err, ok, type Result } from '../../../lib/result.ts'
import type { Schema } from '../../../protocol/schema/schema.ts'
import { parse } from '../../../protocol/schema/schema.ts'
import type { PathIdMalformed } from '../../api-errors.ts'
import { param, type RestRequest } from '../route.ts'

/** Identifiers in paths, and what the node answers where nothing stands behind one. */

/** Reads an identifier of `bytes` bytes from the path. */
export function pathId<T>(
  request: RestRequest,
  name: string,
  schema: Schema<T> & { readonly max: number },
): Result<T, PathIdMalformed> {
  const id = parse(schema, param(request, name))
  return id.ok ? ok(id.value) : err({ code: 'PATH_ID_MALFORMED', name, bytes: schema.max })
}
