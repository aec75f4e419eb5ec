import { randomUUID } from 'node:crypto'
import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql'
import {
  CloseCode,
  type Context,
  makeServer,
  type ServerOptions,
  type SubscribePayload,
} from 'graphql-ws'
import { carriedTrace, type TraceCarrier, within } from '../lib/tracing.ts'
import { type AuthDeps, type Caller, callerOf } from './auth.ts'
import type { Client, Clients } from './clients.ts'
import { toGraphQL } from './errors.ts'
import { createBudget } from './graphql/budget.ts'
import { operationCost } from './graphql/cost.ts'
import { maskErrors, noteErrors, printSocketError } from './graphql/masking.ts'
import { operationRefusal } from './graphql/under-way.ts'
import {
  connectionRefusal,
  costlyRefusal,
  type Occupancy,
  occupy,
  subscriptionRefusal,
} from './limits.ts'
import type { Observation } from './observation.ts'
import { contextOf, kindOf, type OperationDeps, prepareOperation } from './operation.ts'
import { isSharedFeed, isSubscriber, openSharedFeed } from './shared-feed.ts'
import type { TokenWatch } from './token-watch.ts'
import { type Connection, createFeedOperation } from './ws-connection.ts'

/** The graphql-transport-ws protocol with our parser, validator and executor, and with feeds that share their work. */

export interface ProtocolDeps extends OperationDeps {
  readonly auth: AuthDeps
  readonly tokens: TokenWatch
  readonly clients: Clients
}

/** The protocol, ready to be tied to sockets. */
export type Protocol = ReturnType<typeof createProtocol>

type ConnectionContext = Context<Record<string, unknown>, Connection>

/** What is kept of the operations of all connections. */
interface Operations {
  readonly anonymous: Caller
  /** The connection and the id of an operation. */
  readonly originByArgs: WeakMap<ExecutionArgs, { connection: Connection; id: string }>
  /** The price of an event of an open subscription. */
  readonly costByPayload: WeakMap<SubscribePayload, number>
}

/** Creates the protocol. */
export function createProtocol(deps: ProtocolDeps) {
  const { graphql, log, occupancy } = deps
  const anonymous = callerOf(deps.auth, {})
  const operations: Operations = {
    anonymous,
    originByArgs: new WeakMap(),
    costByPayload: new WeakMap(),
  }

  function release({ extra }: ConnectionContext, count: number): void {
    // After the disconnection the operations end one by one, and are no longer counted.
    const released = Math.min(count, extra.subscriptions)
    extra.subscriptions -= released
    occupy(occupancy, extra.client.name, { subscriptions: -released })
  }

  return makeServer<Record<string, unknown>, Connection>({
    onConnect: (context) => connect(deps, context, anonymous),
    onSubscribe: (context, id, payload) => admit(deps, operations, { context, id, payload }),
    onComplete: (context, id, payload) => {
      const { extra } = context
      extra.underWay.get(id)?.close()
      extra.underWay.delete(id)
      extra.cost -= operations.costByPayload.get(payload) ?? 0
      release(context, 1)
    },
    onDisconnect: (context) => {
      endQueries(context)
      release(context, context.extra.subscriptions)
    },
    execute: (args) =>
      observed(deps, args, () => graphql.getEnveloped(contextOf(args)).execute(args)),
    subscribe: (args) => observed(deps, args, () => subscribe(deps, operations, args)),
    onNext: ({ extra }, _id, _payload, args, result) => {
      // Events that are shared do not come by here; the others are paid for by what they have become.
      if (kindOf(args) === 'subscription') {
        extra.client.share.charge(contextOf(args).budget.spent.cost)
      }
      if (result.errors === undefined) return tracedResult(args, result)
      const { requestId } = contextOf(args)
      const errors = maskErrors({ log, requestId }, result.errors).map(printSocketError)
      // A request that never began has no data, which differs from data without a result.
      return { errors, ...(result.data !== undefined && { data: result.data }) }
    },
    onError: (_context, _id, _payload, errors) =>
      maskErrors({ log, requestId: randomUUID() }, errors).map(printSocketError),
  })
}

type ProtocolResult = Parameters<NonNullable<ServerOptions['onNext']>>[4]

/** With the trace that the client may go on with, where there is one. */
function tracedResult(
  args: ExecutionArgs,
  { data, extensions }: Pick<ProtocolResult, 'data' | 'extensions'>,
) {
  const { observation } = contextOf(args)
  if (observation?.span === undefined) return undefined
  const trace = carriedTrace(observation.span.context)
  return { ...(data !== undefined && { data }), extensions: { ...extensions, ...trace } }
}

interface Asked {
  readonly context: ConnectionContext
  readonly id: string
  readonly payload: SubscribePayload
}

/** Reads an operation, and counts it, or gives the errors that refuse it. */
function admit(
  deps: ProtocolDeps,
  { anonymous, originByArgs, costByPayload }: Operations,
  { context: { extra }, id, payload }: Asked,
): ExecutionArgs | readonly GraphQLError[] {
  const { occupancy, observer } = deps
  // Before any other work, so that a refusal costs nothing.
  const refusal = subscriptionRefusal(occupancy, extra.client.name, extra.subscriptions)
  if (refusal !== undefined) return [toGraphQL(refusal)]
  const budget = createBudget()
  const { caller = anonymous, client } = extra
  const carrier: TraceCarrier = Object(payload.extensions)
  const observation = observer.begin('websocket', randomUUID(), carrier)
  const running = { budget, observation }
  const args = prepareOperation(deps, { caller, client }, payload, running)
  if (isRefused(args)) return refused(deps, observation, args)
  if (kindOf(args) === 'subscription') {
    const cost = operationCost(args) ?? 0
    const tooCostly = costlyRefusal(extra.cost + cost)
    if (tooCostly !== undefined) return refused(deps, observation, [toGraphQL(tooCostly)])
    extra.cost += cost
    costByPayload.set(payload, cost)
  } else {
    const full = operationRefusal(occupancy.underWay)
    if (full !== undefined) return refused(deps, observation, [toGraphQL(full)])
    budget.begin(occupancy.underWay)
    // A subscription ends by returning its results.
    extra.underWay.set(id, budget)
  }
  // The library keeps the message as long as the operation runs: all of one document keep one text.
  const kept: { query: string } = payload
  kept.query = args.document.loc?.source.body ?? payload.query
  originByArgs.set(args, { connection: extra, id })
  extra.subscriptions++
  occupy(occupancy, extra.client.name, { subscriptions: 1 })
  return args
}

function refused(
  { observer }: ProtocolDeps,
  observation: Observation,
  errors: readonly GraphQLError[],
): readonly GraphQLError[] {
  noteErrors(observation, errors)
  observer.end(observation)
  return errors
}

/** Runs an operation as a part of its trace, and ends its observation with its answer, or when a subscription is accepted. */
async function observed<T extends object>(
  { observer }: ProtocolDeps,
  args: ExecutionArgs,
  run: () => T | Promise<T>,
): Promise<T> {
  const { observation } = contextOf(args)
  const result = await within(observation?.span, run)
  if ('errors' in result) noteErrors(observation, (result as ExecutionResult).errors)
  if (observation !== undefined) observer.end(observation)
  return result
}

async function subscribe(
  { graphql, log }: ProtocolDeps,
  { originByArgs }: Operations,
  args: ExecutionArgs,
) {
  const origin = originByArgs.get(args)
  if (origin === undefined || !isSharedFeed(args)) {
    return await graphql.getEnveloped(contextOf(args)).subscribe(args)
  }
  const operation = createFeedOperation(origin.connection, origin.id)
  const opened = await openSharedFeed(args, { sink: operation.sink, log })
  if (!isSubscriber(opened)) return opened
  operation.attach(opened)
  return operation.results
}

/** Ends the queries of a client that has left. */
function endQueries({ extra }: ConnectionContext): void {
  for (const budget of extra.underWay.values()) {
    budget.leave()
    budget.close()
  }
  extra.underWay.clear()
}

/**
 * Identifies the caller by `Authorization` in the connection's parameters, else in the upgrade request. Reading is open to
 * all, but an invalid token is refused with a code after which clients reconnect with another.
 */
async function connect(
  { auth, tokens, clients, occupancy }: ProtocolDeps,
  { connectionParams, extra }: ConnectionContext,
  anonymous: Caller,
): Promise<boolean> {
  const named = connectionParams?.Authorization ?? connectionParams?.authorization
  const { authorization, cookie } = extra.credentials ?? {}
  const credentials = {
    authorization: typeof named === 'string' ? named : authorization,
    cookie,
  }
  extra.credentials = undefined
  extra.caller = credentials.authorization || cookie ? callerOf(auth, credentials) : anonymous
  const identity = await extra.caller.identify()
  const client = await clients.named(credentials, extra.caller, extra.client)
  if (!isPassedTo(client, { occupancy, extra })) return false
  if (identity.ok) {
    const { socket, subscribers } = extra
    const end = (code: string) => socket.close(CloseCode.Forbidden, code)
    // The close event comes once: a socket closed meanwhile would be watched until the token ends.
    const isWatched = socket.readyState === socket.OPEN
    if (isWatched) extra.forgetToken = tokens.add({ identity: identity.value, subscribers, end })
    return true
  }
  if (identity.error.code === 'TOKEN_MISSING') return true
  extra.socket.close(CloseCode.Forbidden, identity.error.code)
  return false
}

/** Counts a connection as one of the holder of its token, if that may have another. */
function isPassedTo(
  client: Client,
  { occupancy, extra }: { readonly occupancy: Occupancy; readonly extra: Connection },
): boolean {
  const { socket, client: before } = extra
  if (client.name === before.name || socket.readyState !== socket.OPEN) return true
  const refusal = connectionRefusal(occupancy, client.name)
  if (refusal !== undefined) {
    socket.close(tryAgainLater, refusal.code)
    return false
  }
  occupy(occupancy, before.name, { connections: -1 })
  occupy(occupancy, client.name, { connections: 1 })
  extra.client = client
  return true
}

/** A code of the registry of WebSocket close codes. */
const tryAgainLater = 1013

function isRefused(args: ExecutionArgs | readonly GraphQLError[]): args is readonly GraphQLError[] {
  return Array.isArray(args)
}
