import type { Result } from '../../lib/result.ts'
import type { Services } from '../../service/services.ts'
import { toRest } from '../errors.ts'
import type { GatewayError } from '../gateway-error.ts'
import type { Shape } from './form.ts'
import { type Given, type Parameters, readParameters } from './parameters.ts'
import type { Answer, Reply } from './reply.ts'
import type { CheckedRequest, RestRequest } from './request.ts'
import type { RefusalForm, RouteResponse } from './response.ts'

/** A route of the REST surface, declared once: what describes its parameters and answers reads and prints them. */

/** What a route declares. */
export interface RouteDescription {
  readonly method: 'GET' | 'POST'
  /** Segments with parameters in braces: `/v1/chains/{chainID}/chainrecord`. */
  readonly path: string
  /** What it does, in one sentence. */
  readonly about: string
  /** The parameters of its path. */
  readonly params?: Parameters
  /** Its query parameters; any other, and one that comes twice, is refused before them. */
  readonly query?: Parameters
  /** The headers it reads besides `Accept`. */
  readonly headers?: Parameters
  /** Whether `Authorization` is read, and whether a token that may write is needed. */
  readonly token?: 'needed' | 'read'
  /** The forms of the body by content type. */
  readonly body?: Readonly<Record<string, Shape>>
  /** The answers of success by status. */
  readonly answers: Readonly<Record<number, Answer>>
  /** The statuses of its refusals besides 400, 429, 500 and 503, which every route has. */
  readonly errors?: readonly number[]
  /** What answering takes at least, in units of cost; every 32 bytes of the answer are one more. */
  readonly cost?: number
  /** The form of its refusals, where a specification says more than the status. */
  readonly refusals?: RefusalForm
}

/** A route as the router calls it. */
export interface Route extends RouteDescription {
  /** Answers expected failures too; an exception becomes one INTERNAL. */
  answer(request: RestRequest, services: Services): Promise<RouteResponse>
  /** What reads the version of its answer, of a route whose answers are JSON and are kept; `undefined` where it refuses. */
  version?(request: RestRequest, services: Services): ReadVersion | undefined
}

/** Reads a text that is equal for equal answers, or `undefined` where there is none. */
export type ReadVersion = () => Promise<string | undefined>

/** A route whose answer of success is one value. */
export interface ReadRoute<R extends Reply<never>> extends Route {
  readonly reply: R
}

interface Declaration<P extends Parameters, Q extends Parameters, H extends Parameters> {
  readonly params?: P
  readonly query?: Q
  readonly headers?: H
}

type None = Record<never, never>

/**
 * Makes a route. It checks, in this order, the token where one is needed, the query, the path and the headers, and calls
 * `answer` with their values by name.
 */
export function route<
  P extends Parameters = None,
  Q extends Parameters = None,
  H extends Parameters = None,
>(
  declaration: Declaration<P, Q, H> &
    Omit<RouteDescription, 'params' | 'query' | 'headers'> & {
      answer(
        given: Given<P> & Given<Q> & Given<H>,
        services: Services,
        request: CheckedRequest,
      ): Promise<Result<RouteResponse, GatewayError>>
      version?(given: Given<P> & Given<Q> & Given<H>, services: Services): ReadVersion
    },
): Route {
  const { answer, version, ...description } = declaration
  return {
    ...description,
    ...(version && {
      version: (request, services) => {
        const given = readParameters(description, request, services.parameters)
        // The parameters were read by the declarations that give these types.
        return given.ok
          ? version(given.value as Given<P> & Given<Q> & Given<H>, services)
          : undefined
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
      const answered = await answer(
        given.value as Given<P> & Given<Q> & Given<H>,
        services,
        checked,
      )
      return answered.ok ? answered.value : toRest(answered.error, description.refusals)
    },
  }
}

/** Makes a GET route whose success is one value, printed by the reply that describes it. */
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
      given: Given<P> & Given<Q>,
      services: Services,
      request: CheckedRequest,
    ): Promise<Result<NoInfer<T>, GatewayError>>
    version?(given: Given<P> & Given<Q>, services: Services): ReadVersion
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
