import { type ExecutionArgs, GraphQLError, getOperationAST } from 'graphql'
import type { Log } from '../lib/log.ts'
import type { Services } from '../service/services.ts'
import type { Caller } from './auth.ts'
import { messageOf, toGraphQL } from './errors.ts'
import type { Budget } from './graphql/budget.ts'
import type { GatewayContext } from './graphql/builder.ts'
import { costRefusal } from './graphql/cost.ts'
import type { Documents } from './graphql/documents.ts'
import type { GraphqlServer } from './graphql/server.ts'
import type { Occupancy } from './limits.ts'
import { noteOperation, type Observation } from './observation.ts'
import type { Observer } from './observer.ts'

/** An operation that came by a socket or a stream: read and validated with the same plugins as one by HTTP. */

/** What reading operations needs. */
export interface OperationDeps {
  readonly graphql: GraphqlServer
  readonly documents: Documents
  readonly services: Services
  readonly occupancy: Occupancy
  readonly log: Log
  readonly observer: Observer
}

/** An operation as it was sent. */
export interface OperationRequest {
  /** Empty or absent where the extensions name it. */
  readonly query?: string | undefined
  readonly operationName?: string | null | undefined
  readonly variables?: Record<string, unknown> | null | undefined
  readonly extensions?: unknown
}

/** Reads and validates an operation. Never throws. */
export function prepareOperation(
  { graphql, documents, services, occupancy, log }: OperationDeps,
  caller: Caller,
  request: OperationRequest,
  { budget, observation }: { readonly budget: Budget; readonly observation: Observation },
): ExecutionArgs | readonly GraphQLError[] {
  const { operationName, variables } = request
  const { requestId } = observation
  const { isStopping, limits } = occupancy
  const running = { budget, observation, requestId, isStopping }
  const contextValue: GatewayContext = { caller, services, limits, ...running }
  try {
    const { schema, parse, validate } = graphql.getEnveloped(contextValue)
    const text = documents.textOf(request)
    if (!text.ok) return [toGraphQL(text.error)]
    const document = parse(text.value ?? '')
    const errors = validate(schema, document)
    if (errors.length > 0) return errors
    const operation = getOperationAST(document, operationName)
    if (!operation) return [new GraphQLError(unknownOperation)]
    noteOperation(observation, operation)
    const args = { schema, document, contextValue, operationName, variableValues: variables }
    const refusal = costRefusal(args)
    return refusal === undefined ? args : [refusal]
  } catch (error) {
    if (error instanceof GraphQLError) return [error]
    log.error('request-failed', { requestId, error })
    const internal = { code: 'INTERNAL', requestId } as const
    return [new GraphQLError(messageOf(internal), { extensions: internal })]
  }
}

const unknownOperation = 'operationName: the document has no such operation, or several'

/** Whether it is a query, a mutation or a subscription. */
export function kindOf({ document, operationName }: ExecutionArgs): string | undefined {
  return getOperationAST(document, operationName)?.operation
}

/** What `prepareOperation` put there. */
export function contextOf(args: Pick<ExecutionArgs, 'contextValue'>): GatewayContext {
  return args.contextValue as GatewayContext
}
