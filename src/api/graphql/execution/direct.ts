import type { IncomingMessage, ServerResponse } from 'node:http'
import { passTurn } from '../../../lib/turns.ts'
import type { RateLimitExceeded } from '../../errors/api-errors.ts'
import type {
  CachedResponse,
  PreparedRequest,
  RequestKey,
  ResponseCache,
} from '../../response-cache.ts'
import { send, tagOf } from '../../rest/respond.ts'
import type { GatewayContext } from '../builder.ts'
import { type Budget, createBudget } from './budget.ts'
import type { Documents } from './documents.ts'
import {
  createPreparedQueries,
  type PreparedQueries,
  type PreparedQueryDeps,
  type QueryRequest,
} from './prepared-queries.ts'
import { bytesOfUnit } from './prices.ts'
import { refusedGraphql } from './refused.ts'
import { operationRefusal, type RunningOperations } from './running-operations.ts'

/**
 * Fast path for queries: a well-formed request whose compiled query succeeds is answered here. Every other request goes through the
 * GraphQL server, which formats all errors.
 */

/** Answers queries on the fast path. */
export interface DirectAnswers {
  /** Answers the request and resolves to `undefined`, or resolves to an object when the GraphQL server has to answer it. */
  answer(
    message: IncomingMessage,
    response: ServerResponse,
    request: DirectRequest,
  ): Promise<UnhandledRequest | undefined>
}

/** A request that the fast path did not answer. */
export interface UnhandledRequest {
  /** Budget of a query that was ended and must not run again. */
  readonly ended?: Budget | undefined
}

/** A request, apart from its HTTP message. */
export interface DirectRequest {
  /** The query string of the URL, without the question mark. */
  readonly query: string
  /** The body of a POST; `undefined` for a GET. */
  readonly body: Buffer | undefined
  readonly context: Omit<GatewayContext, 'budget'>
  /** Headers of every response. */
  readonly common: Readonly<Record<string, string>>
}

export interface DirectDeps extends PreparedQueryDeps {
  readonly documents: Documents
  readonly responseCache: ResponseCache
  readonly runningOperations: RunningOperations
}

/** Creates the fast path in front of the server that parses and validates. */
export function createDirectAnswers(deps: DirectDeps): DirectAnswers {
  const path = { ...deps, queries: createPreparedQueries(deps) }
  return {
    answer: async (message, response, request) => {
      const type = answerType(message.headers.accept)
      const read = fastRequestOf(deps.documents, message, request)
      if (type === undefined || read === undefined) return {}
      const outcome = await execute(path, read, response, request.context)
      if (response.destroyed) return undefined
      if (outcome === undefined) return {}
      if (typeof outcome === 'object' && 'ended' in outcome) return outcome
      sendOutcome(response, request, type, outcome)
      return undefined
    },
  }
}

/** A request that the fast path can read. */
interface FastRequest {
  /** Key of the response in the cache. */
  readonly sent: RequestKey
  /** Parses the request; `undefined` when the GraphQL server has to report its errors. */
  readonly readRequest: () => QueryRequest | undefined
}

function fastRequestOf(
  documents: Documents,
  { headers }: IncomingMessage,
  { query, body }: DirectRequest,
): FastRequest | undefined {
  if (body === undefined) {
    const sent = { method: 'GET', text: Buffer.from(query) } as const
    return { sent, readRequest: () => requestOfUrl(documents, query) }
  }
  const { 'content-type': type } = headers
  const isJson = type === 'application/json' || type === 'application/json; charset=utf-8'
  if (query !== '' || !isJson) return undefined
  const sent = { method: 'POST', text: body } as const
  return { sent, readRequest: () => requestOfBody(documents, body) }
}

interface FastPath extends DirectDeps {
  readonly queries: PreparedQueries
}

/** A response, or the reason why there is none; `undefined` when the GraphQL server has to answer. */
type Outcome = string | CachedResponse | Ended | RateLimitExceeded | undefined

/** A query that was ended by its budget. */
interface Ended {
  readonly ended: Budget
}

async function execute(
  { responseCache, runningOperations, queries, log }: FastPath,
  { sent, readRequest }: FastRequest,
  response: ServerResponse,
  fields: DirectRequest['context'],
): Promise<Outcome> {
  let refusal: RateLimitExceeded | undefined
  let taken = 0
  let budget: Budget | undefined
  const leave = () => budget?.leave()
  const prepare = async (): Promise<PreparedRequest | undefined> => {
    const request = readRequest()
    if (request === undefined) return undefined
    // Coercing long variables takes as long as parsing them.
    await passTurn(fields.share.client)
    // A response that is closed does not emit the event that ends the budget.
    if (response.destroyed) return undefined
    const { client } = fields.share
    if (operationRefusal(runningOperations, client) !== undefined) return undefined
    budget = createBudget()
    budget.begin(runningOperations, client)
    response.on('close', () => budget?.close())
    response.on('close', leave)
    const ready = await queries.prepare(request, { ...fields, budget })
    if (ready === undefined) return undefined
    refusal = fields.share.take(ready.cost)
    if (refusal !== undefined) return undefined
    taken = ready.cost
    const { name, version, validity } = ready
    return { name, version, validity, compute: async () => `{"data":${await ready.run()}}` }
  }
  try {
    const written = await responseCache.getOrCompute(sent, prepare)
    // The query spent nothing if another client's equal request computed the response.
    if (taken > 0) fields.share.charge((budget?.spent.cost ?? 0) - taken)
    // The GraphQL server creates a budget of its own.
    if (written === undefined) budget?.close()
    const { observation } = fields
    // A cached response was neither prepared nor computed, and costs nothing.
    if (observation !== undefined && typeof written === 'object') {
      observation.operation ??= { kind: 'query', name: written.name }
    }
    return refusal ?? written
  } catch (error) {
    // A query that was ended does not run again.
    if (budget?.signal.aborted === true) return { ended: budget }
    // The server runs the query again and reports the error. Fields without a value end here, and the client is charged for the
    // resolved fields in addition to what the server charges for its own run.
    leave()
    fields.share.charge(budget?.spent.cost ?? 0)
    budget?.close()
    log.debug('query-run-again', { requestId: fields.requestId, error })
    return undefined
  } finally {
    response.off('close', leave)
  }
}

function sendOutcome(
  response: ServerResponse,
  { context: { share }, common }: DirectRequest,
  type: string,
  outcome: string | CachedResponse | RateLimitExceeded,
): void {
  if (typeof outcome === 'object' && 'code' in outcome) {
    send(response, refusedGraphql(outcome), { ...common, ...share.headers() })
    return
  }
  // A cached response is not computed again, and costs what it takes to send it.
  if (typeof outcome === 'object') share.charge(outcome.body.length / bytesOfUnit)
  sendWritten(response, { ...common, ...share.headers(), 'content-type': type }, outcome)
}

/** Sends a response. A cached response has an ETag, which is computed for the first GET request. */
function sendWritten(
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  written: string | CachedResponse,
): void {
  if (typeof written === 'string') send(response, { status: 200, headers, body: written })
  else {
    const { body } = written
    if (response.req.method === 'GET') written.etag ??= tagOf(body)
    const { etag } = response.req.method === 'GET' ? written : {}
    send(response, {
      status: 200,
      headers: etag === undefined ? headers : { ...headers, etag },
      body,
    })
  }
}

/** Returns the content type for an `Accept` header; `undefined` for a header that the GraphQL server has to read. */
function answerType(accept: string | undefined): string | undefined {
  if (accept === undefined || accept === '*/*') return 'application/json; charset=utf-8'
  for (const one of accept.split(',')) {
    const type = one.trim()
    if (type === '*/*' || type === 'application/json') return 'application/json; charset=utf-8'
    if (type === responseType) return `${responseType}; charset=utf-8`
    if (type !== 'multipart/mixed') return undefined
  }
  return undefined
}

const responseType = 'application/graphql-response+json'

function requestOfBody(documents: Documents, body: Buffer): QueryRequest | undefined {
  try {
    return requestOf(documents, JSON.parse(body.toString()))
  } catch {
    return undefined
  }
}

function requestOfUrl(documents: Documents, query: string): QueryRequest | undefined {
  const given: Record<string, unknown> = Object.create(null)
  for (const [name, value] of new URLSearchParams(query)) {
    if (name in given) return undefined
    given[name] = value
  }
  for (const name of ['variables', 'extensions']) {
    const { [name]: text } = given
    if (typeof text !== 'string') continue
    try {
      given[name] = text === '' ? null : JSON.parse(text)
    } catch {
      return undefined
    }
  }
  return requestOf(documents, given)
}

/** Reads a request that has only these members, and no extension other than `persistedQuery`. */
function requestOf(documents: Documents, json: unknown): QueryRequest | undefined {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined
  const { query, operationName, variables, extensions, ...others } = json as {
    readonly [name: string]: unknown
  }
  if (Object.keys(others).length > 0) return undefined
  if (operationName != null && typeof operationName !== 'string') return undefined
  if (!isAbsentOrObject(variables) || !isAbsentOrObject(extensions)) return undefined
  if (Object.keys(extensions ?? {}).some((name) => name !== 'persistedQuery')) return undefined
  const text = documents.textOf({ query, extensions })
  if (!text.ok || text.value === undefined) return undefined
  return {
    query: text.value,
    operationName: operationName || undefined,
    variables: variables ?? {},
  }
}

type Json = Readonly<Record<string, unknown>>

function isAbsentOrObject(value: unknown): value is Json | null | undefined {
  return value == null || (typeof value === 'object' && !Array.isArray(value))
}
