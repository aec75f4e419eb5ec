import { randomUUID } from 'node:crypto'
import type { ExecutionArgs, GraphQLError } from 'graphql'
import { CloseCode, type Context, makeServer, type SubscribePayload } from 'graphql-ws'
import type { Log } from '../lib/log.ts'
import type { Services } from '../service/services.ts'
import { type AuthDeps, type Caller, callerOf } from './auth.ts'
import { toGraphQL } from './errors.ts'
import { createBudget } from './graphql/budget.ts'
import { operationCost } from './graphql/cost.ts'
import { maskErrors, printSocketError } from './graphql/masking.ts'
import type { GraphqlServer } from './graphql/server.ts'
import { costlyRefusal, type Occupancy, subscriptionRefusal } from './limits.ts'
import { contextOf, kindOf, prepareOperation } from './operation.ts'
import { isSharedFeed, isSubscriber, openSharedFeed } from './shared-feed.ts'
import type { TokenWatch } from './token-watch.ts'
import { type Connection, createFeedOperation } from './ws-connection.ts'

/** The graphql-transport-ws protocol with our parser, validator and executor, and with feeds that share their work. */

/** What the protocol needs. */
export interface ProtocolDeps {
  readonly graphql: GraphqlServer
  readonly services: Services
  readonly auth: AuthDeps
  readonly occupancy: Occupancy
  readonly tokens: TokenWatch
  readonly log: Log
}

/** The protocol, ready to be tied to sockets. */
export type Protocol = ReturnType<typeof createProtocol>

type ConnectionContext = Context<Record<string, unknown>, Connection>

/** Makes the protocol. */
export function createProtocol(deps: ProtocolDeps) {
  const { graphql, log, occupancy } = deps
  const anonymous = callerOf(deps.auth, {})
  /** Where the results of an operation go. */
  const placeByArgs = new WeakMap<ExecutionArgs, { connection: Connection; id: string }>()
  /** What each event of an open subscription costs. */
  const costByPayload = new WeakMap<SubscribePayload, number>()

  function prepare({ extra }: ConnectionContext, id: string, payload: SubscribePayload) {
    // Before anything else, so that what is refused costs nothing.
    const refusal = subscriptionRefusal(occupancy, extra.subscriptions)
    if (refusal !== undefined) return [toGraphQL(refusal)]
    const budget = createBudget()
    const args = prepareOperation(deps, extra.caller ?? anonymous, payload, budget)
    if (isRefused(args)) return args
    if (kindOf(args) === 'subscription') {
      const cost = operationCost(args) ?? 0
      const tooCostly = costlyRefusal(extra.cost + cost)
      if (tooCostly !== undefined) return [toGraphQL(tooCostly)]
      extra.cost += cost
      costByPayload.set(payload, cost)
    } else {
      // A subscription is ended by returning its results.
      extra.underWay.set(id, budget)
    }
    // The library keeps the message as long as the operation runs: let all of them keep one text.
    const kept: { query: string } = payload
    kept.query = args.document.loc?.source.body ?? payload.query
    placeByArgs.set(args, { connection: extra, id })
    extra.subscriptions++
    occupancy.subscriptions++
    return args
  }

  async function subscribe(args: ExecutionArgs) {
    const place = placeByArgs.get(args)
    if (place === undefined || !isSharedFeed(args)) {
      return await graphql.getEnveloped(contextOf(args)).subscribe(args)
    }
    const operation = createFeedOperation(place.connection, place.id)
    const opened = await openSharedFeed(args, { sink: operation.sink, log })
    if (!isSubscriber(opened)) return opened
    operation.attach(opened)
    return operation.results
  }

  /** Nobody waits for what is under way on a connection. */
  function leave({ extra }: ConnectionContext): void {
    for (const budget of extra.underWay.values()) budget.leave()
    extra.underWay.clear()
  }

  function release({ extra }: ConnectionContext, count: number): void {
    // After the disconnection the operations end one by one, and are counted no more.
    const released = Math.min(count, extra.subscriptions)
    extra.subscriptions -= released
    occupancy.subscriptions -= released
  }

  return makeServer<Record<string, unknown>, Connection>({
    onConnect: (context) => connect(deps, context, anonymous),
    onSubscribe: prepare,
    onComplete: (context, id, payload) => {
      const { extra } = context
      extra.underWay.delete(id)
      extra.cost -= costByPayload.get(payload) ?? 0
      release(context, 1)
    },
    onDisconnect: (context) => {
      leave(context)
      release(context, context.extra.subscriptions)
    },
    execute: (args) => graphql.getEnveloped(contextOf(args)).execute(args),
    subscribe,
    onNext: (_context, _id, _payload, args, result) => {
      if (result.errors === undefined) return
      const { requestId } = contextOf(args)
      const errors = maskErrors({ log, requestId }, result.errors).map(printSocketError)
      // A request that never began has no data, which is not the same as no result.
      return { errors, ...(result.data !== undefined && { data: result.data }) }
    },
    onError: (_context, _id, _payload, errors) =>
      maskErrors({ log, requestId: randomUUID() }, errors).map(printSocketError),
  })
}

/**
 * Finds out who is there: by `Authorization` among the connection's parameters, else in the upgrade request. Reading is
 * open to all, but a token that does not count is refused with a code that lets the client come again with another.
 */
async function connect(
  { auth, tokens }: ProtocolDeps,
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
  if (identity.ok) {
    const { expiresAt } = identity.value
    const { socket, readers } = extra
    const expire = () => socket.close(CloseCode.Forbidden, 'TOKEN_EXPIRED')
    // Whoever went meanwhile would be watched until the token ends: the end of a socket is told once.
    const isWatched = expiresAt !== undefined && socket.readyState === socket.OPEN
    if (isWatched) extra.forgetToken = tokens.add({ expiresAt, readers, expire })
    return true
  }
  if (identity.error.code === 'TOKEN_MISSING') return true
  extra.socket.close(CloseCode.Forbidden, identity.error.code)
  return false
}

function isRefused(args: ExecutionArgs | readonly GraphQLError[]): args is readonly GraphQLError[] {
  return Array.isArray(args)
}
