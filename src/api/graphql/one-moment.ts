import { type ExecutionResult, getOperationAST } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { Services } from '../../service/services.ts'
import type { GatewayContext } from './builder.ts'
import { withMeteredServices } from './metered-services.ts'

/** What a query reads is all as of one moment, whatever is committed meanwhile (docs/decisions/032-one-moment.md). */

/** Runs it with a context whose store reads as of this moment. */
export async function atOneMoment<C extends GatewayContext, T>(
  context: C,
  run: (context: C) => Promise<T>,
): Promise<T> {
  const { queryMs } = context.limits
  const overdue = setTimeout(() => context.budget.overdue(queryMs), queryMs)
  overdue.unref()
  try {
    for (let attempt = 1; ; attempt++) {
      const answer = await atOneMomentOf(context, run, attempt === mostAttempts)
      if (answer !== 'STALE') return answer.result
    }
  } finally {
    clearTimeout(overdue)
  }
}

/** Replicas that are lost one after the other. */
const mostAttempts = 3

/** Runs it once. What a replica that is lost or behind left out is no answer, whether it failed or not. */
async function atOneMomentOf<C extends GatewayContext, T>(
  context: C,
  run: (context: C) => Promise<T>,
  isLast: boolean,
): Promise<{ readonly result: T } | 'STALE'> {
  const snapshot = await beginSnapshot(context.services)
  try {
    const result = await run(withMeteredServices(context, snapshot.read))
    return !isLast && (await snapshot.isStale()) ? 'STALE' : { result }
  } catch (failure) {
    if (!isLast && (await snapshot.isStale())) return 'STALE'
    throw failure
  } finally {
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
    const read = new Proxy(store.read, { get: () => fail })
    return { read, isStale: async () => false, end: () => {} }
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
