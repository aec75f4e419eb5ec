import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { ok, type Result } from '../lib/result.ts'
import { passTurn } from '../lib/turns.ts'
import type { Services } from '../service/services.ts'
import { forOneRequest } from './clients/client-shares.ts'
import type { BodyError, QueryParameterMalformed } from './errors/api-errors.ts'
import type { GatewayError } from './errors/gateway-error.ts'
import { createBudget } from './graphql/execution/budget.ts'
import type { DirectAnswers } from './graphql/execution/direct.ts'
import type { Documents } from './graphql/execution/documents.ts'
import { refusedGraphql } from './graphql/execution/refused.ts'
import { operationRefusal } from './graphql/execution/running-operations.ts'
import type { GraphqlServer } from './graphql/server.ts'
import type { Listeners } from './http/listeners.ts'
import type { Occupancy, TransportLimits } from './limits.ts'
import { noteCode } from './observation.ts'
import {
  checkContentType,
  hasTooManyValues,
  parseJson,
  readBody,
  tooManyValues,
} from './rest/body.ts'
import { send, sendFetched } from './rest/respond.ts'
import { isSubscription, type SseRequest, wantsEvents } from './streams/sse.ts'

/** Handles HTTP requests to the GraphQL path: on the fast path, by the GraphQL server, or as an event stream. */

export interface GraphqlDeps {
  readonly services: Services
  readonly limits: TransportLimits
  readonly occupancy: Occupancy
  readonly listeners: Listeners
  readonly direct: DirectAnswers
  readonly graphql: GraphqlServer
  readonly documents: Documents
}

/** Headers of every response to a request. */
export type CommonHeaders = Readonly<Record<string, string>>

/** Answers a GraphQL request that passed the checks of its headers and of the client's budget. */
export async function answerGraphql(deps: GraphqlDeps, request: SseRequest): Promise<void> {
  const { message, response, query, caller, client, common, observation } = request
  const { requestId } = observation
  const refuse = (error: GatewayError, status?: number) => {
    const refusal = refusedGraphql(error, status)
    noteCode(observation, refusal.code)
    send(response, refusal, common)
  }
  const { method = '' } = message
  if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') {
    return refuse({ code: 'METHOD_NOT_ALLOWED', method, allowed: 'GET, HEAD, POST, OPTIONS' })
  }
  if (method === 'POST') {
    const type = checkContentType(message.headers['content-type'], ...graphqlTypes)
    if (!type.ok) return refuse(type.error, 415)
    // The GraphQL server compares the case.
    message.headers['content-type'] = message.headers['content-type']?.toLowerCase()
  }
  const { accept = '*/*' } = message.headers
  const answerEvents = (read: IncomingMessage) => {
    setHeaders(response, { ...common, ...client.share.headers() })
    return deps.listeners.answer({ ...request, message: read })
  }
  if (wantsEvents(message) && !prefersJson(accept)) return await answerEvents(message)
  if (!isAcceptable(accept)) return refuse({ code: 'NOT_ACCEPTABLE' })
  const body = await readGraphqlBody(request)
  // The client disconnected while it sent the body.
  if (body === 'CLIENT_LEFT') return
  if (!body.ok) return refuse(body.error)
  // Some clients (urql, Hot Chocolate) accept both in all their requests, and expect a stream only for a subscription.
  if (wantsEvents(message)) {
    const asked = { ...request, message: replayed(message, body.value) }
    if (await isSubscription(deps, asked)) return await answerEvents(replayed(message, body.value))
  }
  // Node sends no body in response to HEAD.
  if (method === 'HEAD') message.method = 'GET'
  const misspelt = method === 'POST' ? undefined : unreadableParameter(query)
  if (misspelt !== undefined) return refuse(misspelt, 400)
  const { services, limits, occupancy } = deps
  const { isStopping } = occupancy
  const context = {
    ...{ caller, services, limits, requestId, isStopping },
    share: forOneRequest(client.share),
    quota: client.quota,
    observation,
  }
  const asked = { query, body: body.value, context, common }
  const unhandled = await deps.direct.answer(message, response, asked)
  if (unhandled === undefined) return
  // The body is parsed again.
  await passTurn(client.name)
  if (response.destroyed) return
  setHeaders(response, common)
  const { ended } = unhandled
  const { runningOperations } = occupancy
  const full = ended === undefined ? operationRefusal(runningOperations, client.name) : undefined
  if (full !== undefined) return refuse(full, 503)
  const budget = ended ?? createBudget()
  budget.begin(runningOperations, client.name)
  response.once('close', () => {
    if (!response.writableFinished) budget.leave()
    budget.close()
  })
  const left = replayed(message, body.value)
  try {
    const { graphql } = deps
    const given = { ...context, budget }
    const answered = await graphql.handleNodeRequestAndResponse(left, response, given)
    await sendFetched(response, answered)
  } catch (error) {
    // The GraphQL server fails when the client closes the connection early.
    if (!response.destroyed) throw error
  }
}

/** Reads the body of a POST. A JSON body with too many values is refused before it is parsed. */
async function readGraphqlBody({
  message,
  client,
}: SseRequest): Promise<Result<Buffer | undefined, BodyError> | 'CLIENT_LEFT'> {
  if (message.method !== 'POST') return ok(undefined)
  const body = await readBody(message, client.name).catch(() => 'CLIENT_LEFT' as const)
  if (body === 'CLIENT_LEFT' || !body.ok) return body
  const isJson = message.headers['content-type']?.includes('json')
  return isJson && hasTooManyValues(body.value) ? tooManyValues : body
}

/** Returns the request with a body that can be read again. It has only the members that are read after the body. */
function replayed(message: IncomingMessage, body: Buffer | undefined): IncomingMessage {
  if (body === undefined) return message
  const { method, url, headers, socket } = message
  return Object.assign(Readable.from([body]), { method, url, headers, socket }) as IncomingMessage
}

/** Whether a client that accepts an event stream lists another acceptable media type before it. */
function prefersJson(accept: string): boolean {
  return isAcceptable(accept.slice(0, accept.toLowerCase().indexOf('text/event-stream')))
}

/** Whether a client accepts one of the media types in which the GraphQL server answers, which ignores weights. */
function isAcceptable(accept: string): boolean {
  return accept.split(',').some((one) => {
    const [type = '', ...parameters] = one.toLowerCase().replace(/\s/g, '').split(';')
    const charset = parameters.find((parameter) => parameter.startsWith('charset='))
    return acceptable.test(type) && (charset === undefined || charset === 'charset=utf-8')
  })
}

const acceptable =
  /^(?:\*|application|multipart|text)\/\*$|^application\/(?:graphql-response\+)?json$|^multipart\/mixed$/

const graphqlTypes = [
  'application/json',
  'application/graphql+json',
  'application/graphql',
] as const

/** Checks the JSON parameters of a GET, because the GraphQL server reports invalid JSON in them as an internal error. */
function unreadableParameter(query: string): QueryParameterMalformed | undefined {
  const parameters = new URLSearchParams(query)
  const name = ['variables', 'extensions'].find((one) => {
    const text = parameters.get(one)
    return text !== null && text !== '' && !parseJson(Buffer.from(text)).ok
  })
  const expected = 'a JSON object'
  return name === undefined ? undefined : { code: 'QUERY_PARAMETER_MALFORMED', name, expected }
}

/** Sets headers for code that writes the response head itself. */
function setHeaders(response: ServerResponse, headers: CommonHeaders): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
}
