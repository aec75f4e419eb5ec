import {
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  getOperationAST,
  type OperationDefinitionNode,
} from 'graphql'
import type { Log } from '../lib/log.ts'
import type { Services } from '../service/services.ts'
import type { Client } from './clients/clients.ts'
import { messageOf, toGraphQL } from './errors/errors.ts'
import type { GatewayContext } from './graphql/builder.ts'
import type { Budget } from './graphql/execution/budget.ts'
import { costRefusal, operationCost } from './graphql/execution/cost.ts'
import type { Documents } from './graphql/execution/documents.ts'
import type { GraphqlServer } from './graphql/server.ts'
import { maxSubscriptionBytes, type Occupancy, overloadRefusal } from './limits.ts'
import { noteOperation, type Observation } from './observation.ts'
import type { Observer } from './observer.ts'
import type { Caller } from './tokens/auth.ts'

/** Parses and validates operations on WebSockets and event streams, with the same plugins as operations over HTTP. */

export interface OperationDeps {
  readonly graphql: GraphqlServer
  readonly documents: Documents
  readonly services: Services
  readonly occupancy: Occupancy
  readonly log: Log
  readonly observer: Observer
}

/** An operation as the client sent it. */
export interface OperationRequest {
  /** The document; empty or absent if the extensions name a persisted document. */
  readonly query?: string | undefined
  /** The name of the operation; an empty name counts as absent. */
  readonly operationName?: string | null | undefined
  readonly variables?: Record<string, unknown> | null | undefined
  readonly extensions?: unknown
  /** Size of the request. */
  readonly bytes: number
}

export interface Sender {
  readonly caller: Caller
  readonly client: Client
}

/** Parses and validates an operation, and takes its cost from the budget of its client. Returns errors instead of throwing. */
export function prepareOperation(
  { graphql, documents, services, occupancy, log }: OperationDeps,
  { caller, client }: Sender,
  request: OperationRequest,
  { budget, observation }: { readonly budget: Budget; readonly observation: Observation },
): ExecutionArgs | readonly GraphQLError[] {
  const { variables, bytes } = request
  const operationName = request.operationName || undefined
  const { requestId } = observation
  const { isStopping, limits } = occupancy
  const { share, quota } = client
  const fields = { caller, services, limits, requestId, isStopping }
  const contextValue: GatewayContext = { ...fields, budget, observation, share, quota }
  try {
    const overloaded = overloadRefusal(occupancy, client)
    if (overloaded !== undefined) return [toGraphQL(overloaded)]
    const { schema, parse, validate } = graphql.getEnveloped(contextValue)
    const text = documents.textOf(request)
    if (!text.ok) return [toGraphQL(text.error)]
    const document = parse(text.value ?? '')
    const errors = validate(schema, document)
    if (errors.length > 0) return errors
    const operation = getOperationAST(document, operationName)
    if (!operation) return [unknownOperation()]
    noteOperation(observation, operation)
    const variableValues = variables && declaredOf(operation, variables)
    if (operation.operation === 'subscription' && bytes > maxSubscriptionBytes) {
      return [toGraphQL({ code: 'BODY_TOO_LARGE', limit: maxSubscriptionBytes })]
    }
    const args = { schema, document, contextValue, operationName, variableValues }
    const refusal = costRefusal(args)
    if (refusal !== undefined) return [refusal]
    const exceeded = share.take(operationCost(args) ?? 0)
    return exceeded === undefined ? args : [toGraphQL(exceeded)]
  } catch (error) {
    if (error instanceof GraphQLError) return [error]
    log.error('request-failed', { requestId, error })
    const internal = { code: 'INTERNAL', requestId } as const
    return [new GraphQLError(messageOf(internal), { extensions: internal })]
  }
}

/** Whether a request is for a subscription; false if its document is refused. */
export function requestsSubscription(
  { graphql, documents }: Pick<OperationDeps, 'graphql' | 'documents'>,
  { share }: Pick<Client, 'share'>,
  request: OperationRequest,
): boolean {
  const text = documents.textOf(request)
  if (!text.ok || !text.value?.includes('subscription')) return false
  try {
    const document: DocumentNode = graphql.getEnveloped({ share }).parse(text.value)
    const operation = getOperationAST(document, request.operationName || undefined)
    return operation?.operation === 'subscription'
  } catch (error) {
    if (error instanceof GraphQLError) return false
    throw error
  }
}

/** Returns the variables that an operation declares. A subscription holds its variables as long as it lasts. */
function declaredOf(
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const names = variableDefinitions.map(({ variable }) => variable.name.value)
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]),
  )
}

function unknownOperation(): GraphQLError {
  const message = 'operationName: the document must have exactly one operation of this name'
  return new GraphQLError(message, { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } })
}

/** Returns the kind of an operation: `query`, `mutation` or `subscription`. */
export function kindOf({ document, operationName }: ExecutionArgs): string | undefined {
  return getOperationAST(document, operationName)?.operation
}

/** Returns the context that `prepareOperation` created. */
export function contextOf(args: Pick<ExecutionArgs, 'contextValue'>): GatewayContext {
  return args.contextValue as GatewayContext
}
