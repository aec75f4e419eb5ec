import { type ExecutionResult, getOperationAST } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { Services } from '../../../service/services.ts'
import type { GatewayContext } from '../builder.ts'
import { withMeteredServices } from './metered-services.ts'

/** Consistent reads: all reads of a query see the database as of one moment (docs/decisions/032-one-moment.md). */

/** Runs a query with a context whose store reads from one snapshot. Retries when the snapshot of a replica is stale. */
export async function atSnapshot<C extends GatewayContext, T>(
  context: C,
  run: (context: C) => Promise<T>,
): Promise<T> {
  const { queryMs } = context.limits
  const overdue = setTimeout(() => context.budget.overdue(queryMs), queryMs)
  overdue.unref()
  try {
    for (let attempt = 1; ; attempt++) {
      const outcome = await runOnce(context, run, attempt === maxAttempts)
      if (outcome !== 'STALE') return outcome.result
    }
  } finally {
    clearTimeout(overdue)
  }
}

/** Maximum number of attempts: replicas can be lost one after the other. */
const maxAttempts = 3

/** Runs the query once. A result or failure from a replica that was lost or is behind is discarded as stale. */
async function runOnce<C extends GatewayContext, T>(
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

/** Begins a snapshot. If that fails, such as during an outage of the database, fields that read fail and other fields resolve. */
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
 * Consistent reads for queries that the executor runs. If the request has `"extensions": { "asOf": true }`, the response has the index of
 * its milestone in `extensions.asOf`. Mutations read their own writes, and each event of a subscription reads separately.
 */
export const snapshotPlugin: Plugin<GatewayContext> = {
  onExecute({ args, executeFn, setExecuteFn }) {
    const operation = getOperationAST(args.document, args.operationName)
    if (operation?.operation === 'mutation') {
      const contextValue = withMeteredServices(args.contextValue)
      setExecuteFn((given) => executeFn({ ...given, contextValue }))
    }
    if (operation?.operation !== 'query') return
    setExecuteFn((given) =>
      atSnapshot(args.contextValue, async (contextValue) => {
        const result: ExecutionResult = await executeFn({ ...given, contextValue })
        if (isAsyncIterable(result) || contextValue.params?.extensions?.asOf !== true) return result
        const { slot } = await contextValue.services.store.read.latestMilestone()
        return { ...result, extensions: { ...result.extensions, asOf: slot } }
      }),
    )
  },
}
