import { type ExecutionResult, getOperationAST } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import { mostQueryMs } from '../../service/network/database-away.ts'
import type { Services } from '../../service/services.ts'
import type { GatewayContext } from './builder.ts'
import { withMeteredServices } from './metered-services.ts'

/** What a query reads is all as of one moment, whatever is committed meanwhile (docs/decisions/032-one-moment.md). */

/** Runs it with a context whose store reads as of this moment. */
export async function atOneMoment<C extends GatewayContext, T>(
  context: C,
  run: (context: C) => Promise<T>,
): Promise<T> {
  const snapshot = await beginSnapshot(context.services)
  const overdue = setTimeout(context.budget.overdue, mostQueryMs)
  overdue.unref()
  try {
    return await run(withMeteredServices(context, snapshot.read))
  } finally {
    clearTimeout(overdue)
    snapshot.end()
  }
}

type Snapshot = Awaited<ReturnType<Services['store']['snapshot']>>

/** Where none can begin, as while the database is away, the fields that read fail, and the others are answered. */
async function beginSnapshot({ store }: Pick<Services, 'store'>): Promise<Snapshot> {
  try {
    return await store.snapshot()
  } catch (failure) {
    const fail = () => Promise.reject(failure)
    return { read: new Proxy(store.read, { get: () => fail }), end: () => {} }
  }
}

/**
 * Queries that the executor runs. An answer whose request asks for it by `"extensions": { "asOf": true }` has in
 * `extensions.asOf` the milestone that it is as of. Mutations read what they wrote, and events of subscriptions are each by themselves.
 */
export const oneMoment: Plugin<GatewayContext> = {
  onExecute({ args, executeFn, setExecuteFn }) {
    const operation = getOperationAST(args.document, args.operationName)
    if (operation?.operation === 'mutation') {
      const contextValue = withMeteredServices(args.contextValue)
      setExecuteFn((given) => executeFn({ ...given, contextValue }))
    }
    if (operation?.operation !== 'query') return
    setExecuteFn((given) =>
      atOneMoment(args.contextValue, async (contextValue) => {
        const result: ExecutionResult = await executeFn({ ...given, contextValue })
        if (isAsyncIterable(result) || contextValue.params?.extensions?.asOf !== true) return result
        const { slot } = await contextValue.services.store.read.latestMilestone()
        return { ...result, extensions: { ...result.extensions, asOf: slot } }
      }),
    )
  },
}
