import { GraphQLError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { errorRowOf } from '../error-table.ts'
import { toGraphQL } from '../errors.ts'
import type { GatewayContext } from './builder.ts'
import { operationCost } from './cost.ts'
import { charactersOfUnit, documentCost, errorCost } from './prices.ts'

/** Takes what an operation may cost from the share of its client before it is executed, and gives back what it did not spend. */

/** For operations by HTTP; of sockets and streams only the documents, for these take the cost when they read an operation. */
export const shareLimit: Plugin<GatewayContext, GatewayContext> = {
  onParse({ context, params: { source } }) {
    const { length } = typeof source === 'string' ? source : source.body
    // What is kept from before is paid for as well.
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
