import type { ExecutionResult } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { GatewayContext } from '../builder.ts'
import { operationCost } from './cost.ts'
import { maxOperationCost } from './prices.ts'

/**
 * Adds `extensions.cost` to the response if the request has `"extensions": { "cost": true }`: the estimated cost of the operation, its
 * actual cost, the limit, the fields and bytes of its response, and the remaining share of the client.
 */
export const costReport: Plugin<GatewayContext> = {
  onExecute({ args }) {
    const { budget, params, share } = args.contextValue
    if (params?.extensions?.cost !== true) return
    const estimated = operationCost(args)
    return {
      onExecuteDone({ result, setResult }) {
        if (isAsyncIterable(result)) return
        const { extensions, ...rest }: ExecutionResult = result
        const { cost: spent, fields, bytes } = budget.spent
        const remaining = share.remaining()
        const cost = { estimated, spent, limit: maxOperationCost, fields, bytes, remaining }
        setResult({ ...rest, extensions: { ...extensions, cost } })
      },
    }
  },
}
