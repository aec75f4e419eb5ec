import type { IncomingHttpHeaders } from 'node:http'
import { present } from '../../lib/assert.ts'
import type { Result } from '../../lib/result.ts'
import type { Services } from '../../service/services.ts'
import type { BodyError, LimitError } from '../api-errors.ts'
import type { Caller } from '../auth.ts'
import type { Shape } from './openapi/shape.ts'

/** One route of the REST surface. A file per route makes one; `router.ts` finds it and calls it. */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** Segments with parameters in braces: `/v1/chains/{chainID}/chainrecord`. */
  readonly path: string
  /** What it does, in one sentence. */
  readonly about: string
  /** The parameters of its path. */
  readonly params?: Parameters
  /** The query parameters it knows; any other, and one that comes twice, is refused before `answer`. */
  readonly query?: Parameters
  /** The headers it reads besides `Accept`. */
  readonly headers?: Parameters
  /** Whether `Authorization` is read, and whether nothing is done without a valid token. */
  readonly token?: 'needed' | 'read'
  /** What the body may be, by content type. */
  readonly body?: Readonly<Record<string, Shape>>
  /** What it answers when all went well, by status. */
  readonly answers: Readonly<Record<number, Answer>>
  /** The statuses of its refusals, besides 400, 500 and 503, which every route may answer. */
  readonly errors: readonly number[]
  /** How it refuses, where a specification says more than the status. */
  readonly refusals?: RefusalForm
  /** Answers expected failures itself, by `toRest`; what it throws becomes one INTERNAL. */
  answer(request: RestRequest, services: Services): Promise<RestResponse>
}

/** What a route's own list of errors says of their form. */
export interface RefusalForm {
  /** The only statuses that it answers with. */
  readonly statuses?: readonly number[]
  /** What stands in front of the message, by status. */
  readonly titles?: Readonly<Record<number, string>>
}

/** The parameters of one kind, by name. */
export interface Parameters {
  readonly [name: string]: Shape
}

/** An answer as it is described. */
export interface Answer {
  readonly about: string
  /** The form of the JSON; absent where there is no body. */
  readonly json?: Shape
  /** What stands in its place when bytes are asked for; absent where there are none. */
  readonly bytes?: string
  /** Headers besides those that every answer has, with a sentence on each. */
  readonly headers?: Readonly<Record<string, string>>
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
  /**
   * Waits for something on behalf of the client, who counts as a listener meanwhile. The signal fires when nobody waits
   * for the answer any more, or the gateway is about to stop.
   */
  listen<T>(work: (signal: AbortSignal) => Promise<T>): Promise<Result<T, LimitError>>
  /** Whether the gateway is about to stop. */
  readonly isStopping: boolean
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
