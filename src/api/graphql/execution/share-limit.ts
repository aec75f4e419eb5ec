import { GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { errorRowOf } from '../../errors/error-table.ts'
import { toGraphQL } from '../../errors/errors.ts'
import type { GatewayContext } from '../builder.ts'
import { operationCost } from './cost.ts'
import { charactersOfUnit, documentCost, errorCost } from './prices.ts'

/** Takes the maximum cost of an operation from the share of its client before execution, and returns the unspent part. */

/** Plugin for HTTP operations. WebSocket and event stream transports take the cost themselves; the plugin charges their documents. */
export const shareLimit: Plugin<GatewayContext, GatewayContext> = {
  onParse({ context, params: { source } }) {
    const { length } = typeof source === 'string' ? source : source.body
    // Cached documents are charged as well.
    context.share.charge(documentCost + length / charactersOfUnit)
  },
  onValidate({ context }) {
    return ({ result }) => context.share.charge(result.length * errorCost)
  },
  onExecute({ args, setResultAndStopExecution }) {
    const { share, budget } = args.contextValue
    const estimated = operationCost(args) ?? 0
    const refusal = 'request' in args.contextValue ? share.take(estimated) : undefined
    if (refusal === undefined) {
      return { onExecuteDone: () => share.charge(budget.spent.cost - estimated) }
    }
    const { status, headers } = errorRowOf(refusal.code)
    const { message, extensions } = toGraphQL(refusal)
    const http = { status, headers: headers?.(refusal) ?? {} }
    const error = new GraphQLError(message, { extensions: { ...extensions, http } })
    setResultAndStopExecution({ errors: [error] })
    return undefined
  },
  onResponse({ response, serverContext }) {
    for (const [name, value] of Object.entries(serverContext.share.headers())) {
      response.headers.set(name, value)
    }
  },
}
