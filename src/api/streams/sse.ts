import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql'
import type { Log } from '../../lib/log.ts'
import { ok, type Result } from '../../lib/result.ts'
import { passTurn } from '../../lib/turns.ts'
import type { Client } from '../clients/clients.ts'
import type { AuthError, LimitError } from '../errors/api-errors.ts'
import type { GatewayError } from '../errors/gateway-error.ts'
import { createBudget } from '../graphql/execution/budget.ts'
import { maskErrors, noteErrors, printSocketError } from '../graphql/execution/masking.ts'
import { refusedGraphql } from '../graphql/execution/refused.ts'
import { operationRefusal } from '../graphql/execution/running-operations.ts'
import { connectionRefusal, overloadRefusal, subscriptionRefusal } from '../limits.ts'
import { noteCode, type Observation } from '../observation.ts'
import {
  contextOf,
  kindOf,
  type OperationDeps,
  type OperationRequest,
  prepareOperation,
  requestsSubscription,
} from '../operation.ts'
import { checkContentType, parseJson, readBody } from '../rest/body.ts'
import { malformed } from '../rest/parameters.ts'
import { send } from '../rest/respond.ts'
import type { RestResponse } from '../rest/response.ts'
import type { Caller, Identity } from '../tokens/auth.ts'
import type { TokenWatch } from '../tokens/token-watch.ts'
import type { Heartbeat } from './heartbeat.ts'
import { isSharedFeed, isSubscriber, openSharedFeed } from './shared-feed.ts'
import { type EventStream, openEventStream, sendHead } from './sse-stream.ts'

/** GraphQL over server-sent events, one operation per request (graphql-sse, distinct connections). Events of feeds carry their cursors. */

export interface SseDeps extends OperationDeps {
  readonly heartbeat: Heartbeat
  readonly tokens: TokenWatch
  /** The open streams. */
  readonly streams: Set<EventStream>
}

/** A request for a stream, with the facts that the HTTP server has determined. */
export interface SseRequest {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  /** The query string, without the question mark. */
  readonly query: string
  readonly caller: Caller
  readonly client: Client
  readonly observation: Observation
  /** Headers of every response. */
  readonly common: RestResponse['headers']
}

/** Whether a request accepts an event stream. */
export function wantsEvents({ headers }: IncomingMessage): boolean {
  return (headers.accept ?? '').toLowerCase().includes('text/event-stream')
}

/** Whether a request is for a subscription; false for a request that is refused, whose response says why. Reads the body. */
export async function isSubscription(
  deps: Pick<OperationDeps, 'graphql' | 'documents'>,
  request: SseRequest,
): Promise<boolean> {
  const asked = await readRequest(request)
  return asked.ok && requestsSubscription(deps, request.client, asked.value)
}

/** Answers with an event stream, or refuses the request before any work. */
export async function answerEvents(deps: SseDeps, request: SseRequest): Promise<void> {
  const { message, response, caller, client, observation } = request
  Object.assign(observation, { transport: 'event-stream', isOpenEnded: true })
  const refusal = refusalOf(deps, client)
  if (refusal !== undefined) return refuse(request, refusal)
  const allowed = await validToken(caller)
  if (!allowed.ok) return refuse(request, allowed.error)
  const asked = await readRequest(request)
  if (!asked.ok) return refuse(request, asked.error)
  // A response that is closed does not emit the event that ends the budget.
  if (response.destroyed) return
  // The gateway may have become overloaded since the head of the request arrived.
  const overloaded = overloadRefusal(deps.occupancy, client)
  if (overloaded !== undefined) return refuse(request, overloaded)
  const budget = createBudget()
  response.once('close', () => {
    budget.leave()
    budget.close()
  })
  const running = { budget, observation }
  const args = prepareOperation(deps, { caller, client }, asked.value, running)
  if (!isArgs(args)) {
    noteErrors(observation, args)
    return send(response, refused(args), { ...request.common, ...client.share.headers() })
  }
  if (kindOf(args) !== 'subscription') {
    const { runningOperations } = deps.occupancy
    const full = operationRefusal(runningOperations, client.name)
    if (full !== undefined) return refuse(request, full)
    budget.begin(runningOperations, client.name)
  }
  const { method = '' } = message
  if (method !== 'POST' && isMutation(args)) {
    return refuse(request, { code: 'METHOD_NOT_ALLOWED', method, allowed: 'POST' })
  }
  // While the request was read, other clients may have connected, or the gateway may have begun to stop.
  const late = refusalOf(deps, client)
  if (late !== undefined) return refuse(request, late)
  if (method === 'HEAD') {
    sendHead(response)
    return void response.end()
  }
  const stream = openEventStream(response, { ...deps, client })
  const identity = allowed.value
  if (identity !== undefined) {
    const { subscribers, close: end } = stream
    stream.onClose(deps.tokens.add({ identity, subscribers, end }))
  }
  await run(deps, args, { stream, resumeAfter: lastEventId(message) })
}

function refuse({ response, observation, common }: SseRequest, error: GatewayError): void {
  const answer = refusedGraphql(error)
  noteCode(observation, answer.code)
  send(response, answer, common)
}

/** Returns why another stream is refused; `undefined` if it is accepted. */
function refusalOf({ occupancy }: SseDeps, { name }: Client): LimitError | undefined {
  return connectionRefusal(occupancy, name) ?? subscriptionRefusal(occupancy, name)
}

/** Verifies the token if there is one: everyone may read, but an invalid token is refused. */
async function validToken(caller: Caller): Promise<Result<Identity | undefined, AuthError>> {
  const identity = await caller.identify()
  return identity.ok || identity.error.code !== 'TOKEN_MISSING' ? identity : ok(undefined)
}

async function run(
  { graphql, log, observer }: SseDeps,
  args: ExecutionArgs,
  { stream, resumeAfter }: { stream: EventStream; resumeAfter: string | undefined },
): Promise<void> {
  if (isSharedFeed(args)) {
    const opened = await openSharedFeed(args, { sink: stream.sink, resumeAfter, log })
    if (isSubscriber(opened)) return stream.attach(opened)
    stream.next(masked(log, args, opened))
    return stream.sink.end()
  }
  const enveloped = graphql.getEnveloped(contextOf(args))
  const isSubscription = kindOf(args) === 'subscription'
  const result = await (isSubscription ? enveloped.subscribe(args) : enveloped.execute(args))
  if (isStream(result)) {
    const { observation } = contextOf(args)
    // The observation ends when the subscription is accepted, because a subscription may last for days.
    if (observation !== undefined) observer.end(observation)
    stream.onClose(() => void result.return(undefined))
    for await (const one of result) {
      const { budget, share } = contextOf(args)
      share.charge(budget.spent.cost)
      stream.next(masked(log, args, one))
      if (!stream.sink.hasRoom()) await stream.sink.room()
      // A feed that catches up waits for no reads, and its socket may accept thousands of events at once.
      await passTurn(share.client)
    }
  } else {
    stream.next(masked(log, args, result))
  }
  stream.sink.end()
}

/** Returns the cursor of the last event that a reconnecting browser received. */
function lastEventId({ headers }: IncomingMessage): string | undefined {
  const id = headers['last-event-id']
  return typeof id === 'string' && id !== '' ? id : undefined
}

async function readRequest({
  message,
  query,
  client,
}: SseRequest): Promise<Result<OperationRequest, GatewayError>> {
  if (message.method !== 'POST') {
    const parameters = new URLSearchParams(query)
    // As in other requests, an empty parameter counts as absent.
    const given = (name: string) => parameters.get(name) || undefined
    const json: Record<string, unknown> = {}
    for (const name of ['variables', 'extensions']) {
      const text = given(name)
      if (text === undefined) continue
      const parsed = parseJson(Buffer.from(text))
      if (!parsed.ok) return malformed(name, 'a JSON object')
      json[name] = parsed.value
    }
    const operationName = given('operationName')
    return operationOf({ query: given('query'), operationName, ...json }, query.length)
  }
  const body = await readBody(message, client.name)
  if (!body.ok) return body
  const isDocument = checkContentType(message.headers['content-type'], 'application/graphql').ok
  if (isDocument) return operationOf({ query: String(body.value) }, body.value.length)
  const parsed = parseJson(body.value)
  return parsed.ok ? operationOf(parsed.value, body.value.length) : parsed
}

function operationOf(value: unknown, bytes: number): Result<OperationRequest, GatewayError> {
  const members: Partial<Record<string, unknown>> = Object(value)
  const { query, operationName, variables, extensions } = members
  const isNamed = query === undefined && extensions != null
  if (!isNamed && typeof query !== 'string') {
    return malformed('query', 'the text of a GraphQL document')
  }
  if (operationName != null && typeof operationName !== 'string') {
    return malformed('operationName', 'the name of an operation')
  }
  if (!isRecord(variables)) return malformed('variables', 'a JSON object')
  return ok({ query, operationName, variables, extensions, bytes })
}

function isRecord(value: unknown): value is Record<string, unknown> | null | undefined {
  return value == null || (typeof value === 'object' && !Array.isArray(value))
}

function refused(errors: readonly GraphQLError[]) {
  const body = { errors: errors.map(printSocketError) }
  const [first] = errors
  const exceeded = first?.extensions.code === 'RATE_LIMIT_EXCEEDED'
  const retry = exceeded && { 'retry-after': String(first?.extensions.retryAfterSeconds) }
  const headers = { 'content-type': 'application/json; charset=utf-8', ...retry }
  return { status: exceeded ? 429 : 400, headers, body: JSON.stringify(body) }
}

function masked(log: Log, args: ExecutionArgs, { data, errors }: ExecutionResult): ExecutionResult {
  if (errors === undefined) return { data: data ?? null }
  const { requestId, observation } = contextOf(args)
  noteErrors(observation, errors)
  return { errors: maskErrors({ log, requestId }, errors), ...(data !== undefined && { data }) }
}

function isMutation(args: ExecutionArgs): boolean {
  return kindOf(args) === 'mutation'
}

function isArgs(args: ExecutionArgs | readonly GraphQLError[]): args is ExecutionArgs {
  return 'document' in args
}

function isStream(result: object): result is AsyncGenerator<ExecutionResult> {
  return Symbol.asyncIterator in result
}
