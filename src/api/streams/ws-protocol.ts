import { randomUUID } from 'node:crypto'
import { type ExecutionArgs, type ExecutionResult, GraphQLError } from 'graphql'
import {
  CloseCode,
  type Context,
  makeServer,
  type ServerOptions,
  type SubscribePayload,
} from 'graphql-ws'
import { carriedTrace, type TraceCarrier, within } from '../../lib/tracing.ts'
import { passTurn } from '../../lib/turns.ts'
import type { Client, Clients } from '../clients/clients.ts'
import { toGraphQL } from '../errors/errors.ts'
import { createBudget } from '../graphql/execution/budget.ts'
import { operationCost } from '../graphql/execution/cost.ts'
import { maskErrors, noteErrors, printSocketError } from '../graphql/execution/masking.ts'
import { operationRefusal } from '../graphql/execution/running-operations.ts'
import {
  connectionRefusal,
  costlyRefusal,
  maxIdLength,
  type Occupancy,
  occupy,
  subscriptionRefusal,
} from '../limits.ts'
import type { Observation } from '../observation.ts'
import { contextOf, kindOf, type OperationDeps, prepareOperation } from '../operation.ts'
import { type AuthDeps, type Caller, callerOf } from '../tokens/auth.ts'
import type { TokenWatch } from '../tokens/token-watch.ts'
import { isSharedFeed, isSubscriber, openSharedFeed } from './shared-feed.ts'
import { type Connection, createFeedOperation } from './ws-connection.ts'

/** The graphql-transport-ws protocol with the parser, validator and executor of this gateway, and with shared feeds. */

export interface ProtocolDeps extends OperationDeps {
  readonly auth: AuthDeps
  readonly tokens: TokenWatch
  readonly clients: Clients
}

/** The protocol server, without sockets. */
export type Protocol = ReturnType<typeof createProtocol>

type ConnectionContext = Context<Record<string, unknown>, Connection>

/** State of the operations of all connections. */
interface Operations {
  readonly anonymous: Caller
  /** The connection and the id of each operation. */
  readonly originByArgs: WeakMap<ExecutionArgs, { connection: Connection; id: string }>
  /** The cost of one event of each open subscription. */
  readonly costByPayload: WeakMap<SubscribePayload, number>
}

export function createProtocol(deps: ProtocolDeps) {
  const { graphql, log, occupancy } = deps
  const anonymous = callerOf(deps.auth, {})
  const operations: Operations = {
    anonymous,
    originByArgs: new WeakMap(),
    costByPayload: new WeakMap(),
  }

  function release({ extra }: ConnectionContext, count: number): void {
    // `onDisconnect` has already released all operations when they end one by one.
    const released = Math.min(count, extra.subscriptions)
    extra.subscriptions -= released
    occupy(occupancy, extra.client.name, { subscriptions: -released })
  }

  return makeServer<Record<string, unknown>, Connection>({
    onConnect: (context) => connect(deps, context, anonymous),
    onSubscribe: (context, id, payload) => admit(deps, operations, { context, id, payload }),
    onComplete: (context, id, payload) => {
      const { extra } = context
      extra.budgets.get(id)?.close()
      extra.budgets.delete(id)
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
    onNext: async ({ extra: { client } }, _id, _payload, args, result) => {
      // Shared events do not pass through here. Each other event is charged by its actual cost.
      if (kindOf(args) === 'subscription') {
        client.share.charge(contextOf(args).budget.spent.cost)
        // A feed that catches up waits for no reads, and its socket may accept thousands of events at once.
        await passTurn(client.name)
      }
      if (result.errors === undefined) return tracedResult(args, result)
      const { requestId } = contextOf(args)
      const errors = maskErrors({ log, requestId }, result.errors).map(printSocketError)
      // A refused operation has no `data` member, which differs from `data: null`.
      return { errors, ...(result.data !== undefined && { data: result.data }) }
    },
    onError: (_context, _id, _payload, errors) =>
      maskErrors({ log, requestId: randomUUID() }, errors).map(printSocketError),
  })
}

type ProtocolResult = Parameters<NonNullable<ServerOptions['onNext']>>[4]

/** Adds the trace context to a result, for the client to continue; `undefined` leaves the result unchanged. */
function tracedResult(
  args: ExecutionArgs,
  { data, extensions }: Pick<ProtocolResult, 'data' | 'extensions'>,
) {
  const { observation } = contextOf(args)
  if (observation?.span === undefined) return undefined
  const trace = carriedTrace(observation.span.context)
  return { ...(data !== undefined && { data }), extensions: { ...extensions, ...trace } }
}

const tooLongId = `The id of an operation is longer than ${maxIdLength} characters`

interface SubscribeMessage {
  readonly context: ConnectionContext
  readonly id: string
  readonly payload: SubscribePayload
}

/** Prepares and counts an operation, or returns the errors that refuse it. */
function admit(
  deps: ProtocolDeps,
  { anonymous, originByArgs, costByPayload }: Operations,
  { context: { extra }, id, payload }: SubscribeMessage,
): ExecutionArgs | readonly GraphQLError[] {
  const { occupancy, observer } = deps
  if (id.length > maxIdLength) {
    extra.socket.close(CloseCode.BadRequest, tooLongId)
    return [new GraphQLError(tooLongId)]
  }
  extra.begunId = id
  // Checked before any other work, so that a refusal costs nothing.
  const refusal = subscriptionRefusal(occupancy, extra.client.name, extra.subscriptions)
  if (refusal !== undefined) return [toGraphQL(refusal)]
  const budget = createBudget()
  const { caller = anonymous, client } = extra
  const carrier: TraceCarrier = Object(payload.extensions)
  const observation = observer.begin('websocket', randomUUID(), carrier)
  const running = { budget, observation }
  const request = { ...payload, bytes: extra.receivedBytes }
  const args = prepareOperation(deps, { caller, client }, request, running)
  if (isRefused(args)) return refused(deps, observation, args)
  if (kindOf(args) === 'subscription') {
    const cost = operationCost(args) ?? 0
    const tooCostly = costlyRefusal(extra.cost + cost)
    if (tooCostly !== undefined) return refused(deps, observation, [toGraphQL(tooCostly)])
    extra.cost += cost
    costByPayload.set(payload, cost)
  } else {
    const full = operationRefusal(occupancy.runningOperations, client.name)
    if (full !== undefined) return refused(deps, observation, [toGraphQL(full)])
    budget.begin(occupancy.runningOperations, client.name)
    // Subscriptions are not in this map: returning their generator ends them.
    extra.budgets.set(id, budget)
  }
  // The library holds the message while the operation runs, so operations with equal documents share one string.
  const query = args.document.loc?.source.body ?? payload.query
  Object.assign(payload, { query, variables: args.variableValues, extensions: undefined })
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

/** Runs an operation inside its trace. The observation ends with the response, or when a subscription is accepted. */
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

/** Ends the running queries of a disconnected client. */
function endQueries({ extra }: ConnectionContext): void {
  for (const budget of extra.budgets.values()) {
    budget.leave()
    budget.close()
  }
  extra.budgets.clear()
}

/**
 * Identifies the caller by `Authorization` in the connection parameters, or else in the upgrade request. Everyone may read, but an
 * invalid token is refused with a close code after which clients reconnect with another token.
 */
async function connect(
  { auth, tokens, clients, occupancy }: ProtocolDeps,
  context: ConnectionContext,
  anonymous: Caller,
): Promise<boolean> {
  const { connectionParams, extra } = context
  // The library would hold them as long as the connection lasts.
  Object.assign(context, { connectionParams: undefined })
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
  if (!moveToClient(client, { occupancy, extra })) return false
  if (identity.ok) {
    const { socket, subscribers } = extra
    const end = (code: string) => socket.close(CloseCode.Forbidden, code)
    // The close event was already emitted if the socket closed meanwhile, so the watch would last until the token expires.
    const isWatched = socket.readyState === socket.OPEN
    if (isWatched) extra.forgetToken = tokens.add({ identity: identity.value, subscribers, end })
    return true
  }
  if (identity.error.code === 'TOKEN_MISSING') return true
  extra.socket.close(CloseCode.Forbidden, identity.error.code)
  return false
}

/** Counts the connection for the holder of its token, if the holder may have another connection. */
function moveToClient(
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

/** The close code "Try Again Later" of the registry of WebSocket close codes. */
const tryAgainLater = 1013

function isRefused(args: ExecutionArgs | readonly GraphQLError[]): args is readonly GraphQLError[] {
  return Array.isArray(args)
}
