import { complexityFromQuery } from '@pothos/plugin-complexity'
import { type ExecutionArgs, GraphQLError, getOperationAST, getVariableValues, Kind } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { defaultPageSize, maximumPageSize } from '../../service/list-ledger-updates.ts'
import { toGraphQL } from '../errors.ts'
import type { GatewayContext } from './builder.ts'

/**
 * What an operation may cost: the fields of its answer if every page is full, and for each item of a page ten more, for it
 * must be read. Pages within pages, and many of them side by side, are refused before anything is. Lists within a block or
 * an output count as one item: 32 KiB have all of them.
 */

/** An operation that asks for too much at once. */
export interface OperationTooCostly {
  readonly code: 'OPERATION_TOO_COSTLY'
  readonly cost: number
  readonly limit: number
}

/** Twenty pages of 1,000 updates with all of their own fields: about a second. */
export const maxOperationCost = 500_000

/** A page, or a field that holds one, counts as many items as are asked for. */
export function pageCost({ first, last }: PageArgs): { field: number; multiplier: number } {
  const asked = Math.min(first ?? last ?? defaultPageSize, last ?? maximumPageSize, maximumPageSize)
  const items = Math.max(1, asked)
  return { field: items * itemCost, multiplier: items }
}

const itemCost = 10

interface PageArgs {
  readonly first?: number | null | undefined
  readonly last?: number | null | undefined
}

/** The outputs that a transaction spends or creates: at most 128 of each. */
export const outputsCost = { field: 128 * itemCost, multiplier: 128 } as const

/** Why an operation is refused for what it asks for; `undefined` where it is not. */
export function costRefusal(args: ExecutionArgs): GraphQLError | undefined {
  const { schema, document, contextValue } = args
  const operation = getOperationAST(document, args.operationName)
  const variables = args.variableValues ?? {}
  // What names no operation, or has variables that do not fit, is refused by execution in its own words.
  if (!operation) return undefined
  if (getVariableValues(schema, operation.variableDefinitions ?? [], variables).errors)
    return undefined
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)
  const alone = { ...document, definitions: [operation, ...fragments] }
  const { complexity: cost } = complexityFromQuery(alone, {
    schema,
    ctx: Object(contextValue),
    variables,
  })
  if (cost <= maxOperationCost) return undefined
  return toGraphQL({ code: 'OPERATION_TOO_COSTLY', cost, limit: maxOperationCost })
}

/** Refuses by HTTP what costs too much; sockets and streams ask `costRefusal` when they read an operation. */
export const costLimit: Plugin<object, GatewayContext> = {
  onExecute({ args, setResultAndStopExecution }) {
    if (!('request' in args.contextValue)) return
    const refusal = costRefusal(args)
    if (refusal === undefined) return
    const { message, extensions } = refusal
    // As the server marks what it refuses to validate: 400, for clients that know GraphQL's own media type.
    const http = { spec: true, status: 400 }
    const error = new GraphQLError(message, { extensions: { ...extensions, http } })
    setResultAndStopExecution({ errors: [error] })
  },
}
