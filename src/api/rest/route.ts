import type { IncomingHttpHeaders } from 'node:http'
import { present } from '../../lib/assert.ts'
import type { Result } from '../../lib/result.ts'
import type { Services } from '../../service/services.ts'
import type { Caller } from '../auth.ts'
import type { BodyError } from './body.ts'

/** One route of the REST surface. A file per route makes one; `router.ts` finds it and calls it. */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** Segments with parameters in braces: `/v1/chains/{chainID}/chainrecord`. */
  readonly path: string
  /** The query parameters it knows; any other, and one that comes twice, is refused before `answer`. */
  readonly query: readonly string[]
  /** Answers expected failures itself, by `toRest`; what it throws becomes one INTERNAL. */
  answer(request: RestRequest, services: Services): Promise<RestResponse>
}

/** A request that found its route. */
export interface RestRequest {
  /** The parameters of the path by name, percent-decoded. */
  readonly params: ReadonlyMap<string, string>
  /** The known query parameters that were given, decoded. */
  readonly query: ReadonlyMap<string, string>
  readonly headers: IncomingHttpHeaders
  readonly caller: Caller
  readonly requestId: string
  /** Reads the body, once; nothing is read before it is asked for. */
  body(): Promise<Result<Uint8Array, BodyError>>
}

/** What goes back. Header names are lower case. */
export interface RestResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
}

/** A JSON answer. */
export function json(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): RestResponse {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(value),
  }
}

/** A parameter of the route's own path. */
export function param(request: RestRequest, name: string): string {
  return present(request.params.get(name), `path parameter ${name}`)
}
