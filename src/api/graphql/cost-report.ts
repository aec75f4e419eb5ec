import type { ExecutionResult } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { GatewayContext } from './builder.ts'
import { maxOperationCost, operationCost } from './cost.ts'

/**
 * Adds `extensions.cost` to an answer whose request asks for it by `"extensions": { "cost": true }`: what the operation could
 * cost at most, the limit, the fields and bytes that its answer had, and what is left of the client's share.
 */
export const costReport: Plugin<GatewayContext> = {
  onExecute({ args }) {
    const { budget, params, share } = args.contextValue
    if (params?.extensions?.cost !== true) return
    const cost = { estimated: operationCost(args), limit: maxOperationCost }
    return {
      onExecuteDone({ result, setResult }) {
        if (isAsyncIterable(result)) return
        const { extensions, ...rest }: ExecutionResult = result
        setResult({
          ...rest,
          extensions: {
            ...extensions,
            cost: { ...cost, ...budget.spent, remaining: share.remaining() },
          },
        })
      },
    }
  },
}
