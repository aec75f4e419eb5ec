import type { ServerResponse } from 'node:http'
import type { Services } from '../service/services.ts'
import type { QueryParameterMalformed } from './api-errors.ts'
import { forOneRequest } from './client-shares.ts'
import type { GatewayError } from './gateway-error.ts'
import { createBudget } from './graphql/budget.ts'
import type { DirectAnswers } from './graphql/direct.ts'
import { refusedGraphql } from './graphql/refused.ts'
import type { GraphqlServer } from './graphql/server.ts'
import { operationRefusal } from './graphql/under-way.ts'
import type { Occupancy, TransportLimits } from './limits.ts'
import type { Listeners } from './listeners.ts'
import { noteRefusal } from './observation.ts'
import { checkContentType, parseJson } from './rest/body.ts'
import { send, sendFetched } from './rest/respond.ts'
import { type SseRequest, wantsEvents } from './sse.ts'

/** Requests to the path of GraphQL: by the short way, by the server, or as a stream of events. */

/** What answering them needs. */
export interface GraphqlDeps {
  readonly services: Services
  readonly limits: TransportLimits
  readonly occupancy: Occupancy
  readonly listeners: Listeners
  readonly direct: DirectAnswers
  readonly graphql: GraphqlServer
}

/** Headers of every answer to a request. */
export type CommonHeaders = Readonly<Record<string, string>>

/** A request of a client that may spend something. */
export interface GraphqlRequest extends SseRequest {
  readonly common: CommonHeaders
}

/** Answers it. */
export async function answerGraphql(deps: GraphqlDeps, request: GraphqlRequest): Promise<void> {
  const { message, response, query, caller, client, common, observation } = request
  const { requestId } = observation
  const refuse = (error: GatewayError, status?: number) => {
    const refusal = refusedGraphql(error, status)
    noteRefusal(observation, refusal)
    send(response, refusal, common)
  }
  if (message.method === 'POST') {
    const type = checkContentType(message.headers['content-type'], ...graphqlTypes)
    if (!type.ok) return refuse(type.error, 415)
  }
  if (wantsEvents(message)) {
    setHeaders(response, { ...common, ...client.share.headers() })
    return await deps.listeners.answer(request)
  }
  const misspelt = message.method === 'GET' ? unreadableParameter(query) : undefined
  if (misspelt !== undefined) return refuse(misspelt, 400)
  const { services, limits, occupancy } = deps
  const { isStopping } = occupancy
  const context = {
    ...{ caller, services, limits, requestId, isStopping },
    share: forOneRequest(client.share),
    quota: client.quota,
    observation,
  }
  const left = await deps.direct.answer(message, response, {
    query,
    context,
    common,
  })
  if (left === undefined) return
  setHeaders(response, common)
  const full = left.ended === undefined ? operationRefusal(occupancy.underWay) : undefined
  if (full !== undefined) return refuse(full, 503)
  const budget = left.ended ?? createBudget()
  budget.begin(occupancy.underWay)
  response.once('close', () => {
    if (!response.writableFinished) budget.leave()
    budget.close()
  })
  const asked = { ...context, budget }
  try {
    const { graphql } = deps
    const answered = await graphql.handleNodeRequestAndResponse(left.message, response, asked)
    await sendFetched(response, answered)
  } catch (error) {
    // The server gives up in the middle for a client that leaves.
    if (!response.destroyed) throw error
  }
}

const graphqlTypes = [
  'application/json',
  'application/graphql+json',
  'application/graphql',
] as const

/** The GraphQL server reads these two of a GET, and reports invalid JSON as an internal error. */
function unreadableParameter(query: string): QueryParameterMalformed | undefined {
  const parameters = new URLSearchParams(query)
  const name = ['variables', 'extensions'].find((one) => {
    const text = parameters.get(one)
    return text !== null && text !== '' && !parseJson(Buffer.from(text)).ok
  })
  const expected = 'a JSON object'
  return name === undefined ? undefined : { code: 'QUERY_PARAMETER_MALFORMED', name, expected }
}

/** For what writes the head of the answer without them. */
function setHeaders(response: ServerResponse, headers: CommonHeaders): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
}
