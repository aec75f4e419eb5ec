import type { Result } from '../../lib/result.ts'
import type { Services } from '../../service/services.ts'
import { toRest } from '../errors/errors.ts'
import type { GatewayError } from '../errors/gateway-error.ts'
import type { Shape } from './form.ts'
import { type Parameters, type ParameterValues, readParameters } from './parameters.ts'
import type { Reply, ResponseDescription } from './reply.ts'
import type { CheckedRequest, RestRequest } from './request.ts'
import type { RefusalForm, RouteResponse } from './response.ts'

/** Routes of the REST API. The declaration that describes parameters and responses also parses and prints them. */

export interface RouteDescription {
  readonly method: 'GET' | 'POST'
  /** Segments with parameters in braces: `/v1/chains/{chainID}/chainrecord`. */
  readonly path: string
  /** Summary of the route. */
  readonly about: string
  readonly params?: Parameters
  /** The query parameters. Unknown and repeated parameters are refused before these are parsed. */
  readonly query?: Parameters
  /** The request headers that the route reads, besides `Accept`. */
  readonly headers?: Parameters
  /** Whether the route reads `Authorization`, and whether it requires a token that may write. */
  readonly token?: 'needed' | 'read'
  /** The schemas of the request body by content type. */
  readonly body?: Readonly<Record<string, Shape>>
  /** The successful responses by status. */
  readonly answers: Readonly<Record<number, ResponseDescription>>
  /** The error statuses besides 400, 429, 500 and 503, which every route has. */
  readonly errors?: readonly number[]
  /** Minimum cost of a request; the size of the response is charged in addition. */
  readonly cost?: number
  /** The form of error responses, if a specification determines it. */
  readonly refusals?: RefusalForm
}

export interface Route extends RouteDescription {
  /** Returns the response, including expected failures. The router converts an exception to INTERNAL. */
  answer(request: RestRequest, services: Services): Promise<RouteResponse>
  /** Returns the function that reads the version of a cacheable JSON response; `undefined` if the request is refused. */
  version?(request: RestRequest, services: Services): ReadVersion | undefined
}

/** Reads the version: equal versions have equal responses. `undefined` means that there is no version. */
export type ReadVersion = () => Promise<string | undefined>

/** A GET route whose successful response is one value. */
export interface ReadRoute<R extends Reply<never>> extends Route {
  readonly reply: R
}

interface Declaration<P extends Parameters, Q extends Parameters, H extends Parameters> {
  readonly params?: P
  readonly query?: Q
  readonly headers?: H
}

type None = Record<never, never>

/** The parsed values of the parameters by name. */
type Given<P extends Parameters, Q extends Parameters, H extends Parameters> = ParameterValues<P> &
  ParameterValues<Q> &
  ParameterValues<H>

/**
 * Creates a route. It checks, in this order, the token if one is required, the query string, the path and the headers, and then
 * calls `answer` with the parsed values by name.
 */
export function route<
  P extends Parameters = None,
  Q extends Parameters = None,
  H extends Parameters = None,
>(
  declaration: Declaration<P, Q, H> &
    Omit<RouteDescription, 'params' | 'query' | 'headers'> & {
      answer(
        given: Given<P, Q, H>,
        services: Services,
        request: CheckedRequest,
      ): Promise<Result<RouteResponse, GatewayError>>
      version?(given: Given<P, Q, H>, services: Services): ReadVersion
    },
): Route {
  const { answer, version, ...description } = declaration
  return {
    ...description,
    ...(version && {
      version: (request, services) => {
        const given = readParameters(description, request, services.parameters)
        // The parameters were read by the declarations that give these types.
        return given.ok ? version(given.value as Given<P, Q, H>, services) : undefined
      },
    }),
    answer: async (request, services) => {
      const needsToken = description.token === 'needed'
      const identity = needsToken ? await request.caller.requireWrite() : undefined
      if (identity?.ok === false) return toRest(identity.error)
      const given = readParameters(description, request, services.parameters)
      if (!given.ok) return toRest(given.error, description.refusals)
      const checked = { ...request, identity: identity?.value }
      // The parameters were read by the declarations that give these types.
      const answered = await answer(given.value as Given<P, Q, H>, services, checked)
      return answered.ok ? answered.value : toRest(answered.error, description.refusals)
    },
  }
}

/** Creates a GET route whose successful response is one value, printed by the reply that describes it. */
export function readRoute<
  T,
  R extends Reply<T>,
  P extends Parameters = None,
  Q extends Parameters = None,
>(
  declaration: Declaration<P, Q, None> & {
    readonly path: string
    readonly about: string
    readonly cost?: number
    readonly errors?: readonly number[]
    readonly reply: R & Reply<T>
    answer(
      given: ParameterValues<P> & ParameterValues<Q>,
      services: Services,
      request: CheckedRequest,
    ): Promise<Result<NoInfer<T>, GatewayError>>
    version?(given: ParameterValues<P> & ParameterValues<Q>, services: Services): ReadVersion
  },
): ReadRoute<R> {
  const { answer, reply, ...description } = declaration
  const made = route<P, Q>({
    ...description,
    method: 'GET',
    answers: { 200: reply },
    answer: async (given, services, request) => {
      const value = await answer(given, services, request)
      return value.ok ? { ok: true, value: reply.respond(request, value.value) } : value
    },
  })
  return { ...made, reply }
}
