import {
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  subscribe,
} from 'graphql'
import { createYoga, isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { Log } from '../../lib/log.ts'
import { toGraphQL } from '../errors.ts'
import { noteOperation } from '../observation.ts'
import { maxBodyBytes } from '../rest/body.ts'
import type { GatewayContext } from './builder.ts'
import { costLimit, introspectionWork, refusedByHttp } from './cost.ts'
import { costReport } from './cost-report.ts'
import { type Documents, namedDocuments } from './documents.ts'
import { hiddenSchema } from './hidden-schema.ts'
import { documentLimits, maxErrorCharacters, maxKeptCharacters } from './limits.ts'
import { documentCodes, maskErrors, noteErrors } from './masking.ts'
import { oneMoment } from './one-moment.ts'
import { overlappingFields } from './overlapping-fields.ts'
import { errorCost } from './prices.ts'
import { shareLimit } from './share-limit.ts'
import { createTextCache } from './text-cache.ts'

/** The GraphQL server for HTTP; `ws.ts` takes its parser, validator and executor for the WebSocket. */
export type GraphqlServer = ReturnType<typeof createGraphqlServer>

/** What the GraphQL server needs. */
export interface GraphqlDeps {
  readonly schema: GraphQLSchema
  readonly log: Log
  readonly documents: Documents
  /** Whether introspection is answered, and errors suggest names. */
  readonly hasIntrospection?: boolean | undefined
}

/** Makes the GraphQL server. The context of a request is passed in with it. */
export function createGraphqlServer({
  schema,
  log,
  documents,
  hasIntrospection = true,
}: GraphqlDeps) {
  return createYoga<GatewayContext>({
    schema,
    plugins: [
      inOrder,
      namedDocuments(documents),
      ...(hasIntrospection ? [] : [hiddenSchema]),
      documentCodes,
      documentLimits,
      overlappingFields,
      costLimit,
      shareLimit,
      endings,
      noting,
      oneMoment,
      costReport,
      noSubscriptions,
      masking(log),
    ],
    // Ours, for the log line and the answer share the request id. The page and CORS are the HTTP server's.
    maskedErrors: false,
    graphiql: false,
    cors: false,
    landingPage: false,
    multipart: false,
    logging: false,
    maxRequestBodySize: maxBodyBytes,
    // By itself it would keep 1,024 documents for an hour, however large they are.
    parserAndValidationCache: {
      documentCache: createTextCache(maxKeptCharacters),
      errorCache: createTextCache(maxErrorCharacters),
    },
  })
}

/**
 * Ends an operation whose client has left, or whose answer is too large: fields that are not resolved yet are not resolved,
 * and what the others gave is dropped. A subscription ends when its client returns it, and its events are each by themselves.
 */
const endings: Plugin<GatewayContext, GatewayContext> = {
  onExecute({ args, executeFn, setExecuteFn }) {
    const { budget } = args.contextValue
    const isHttp = 'request' in args.contextValue
    setExecuteFn(async (given) => {
      try {
        budget.compute(introspectionWork(args))
        const result = await unlessAborted(budget.signal, executeFn(given))
        budget.compute(errorsIn(result) * errorCost)
        return result
      } catch (error) {
        if (error !== budget.signal.reason || !(error instanceof GraphQLError)) throw error
        return { errors: [isHttp ? refusedByHttp(error) : error] }
      }
    })
  },
}

function errorsIn(result: unknown): number {
  const { errors = [] }: Pick<ExecutionResult, 'errors'> = Object(result)
  return errors.length
}

/** The executor of `graphql`: that of the server writes members that it waits for behind the others, not in the order asked. */
const inOrder: Plugin = {
  onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
  onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(subscribe),
}

/** Rejects as soon as the signal fires, and drops what the work still gives. */
function unlessAborted<T>(signal: AbortSignal, work: Promise<T> | T): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    Promise.resolve(work).then(resolve, reject)
  })
}

/** Notes which operation was asked for; sockets and streams note it when they read an operation. */
const noting: Plugin<GatewayContext, GatewayContext> = {
  onExecute({ args: { document, operationName, contextValue } }) {
    if (!('request' in contextValue)) return
    const operation = getOperationAST(document, operationName)
    if (operation) noteOperation(contextValue.observation, operation)
  },
}

/**
 * The server would answer a subscription with a stream of its own, without limits, cursors and the notice of a stop. Only the
 * server has the request in the context: the transports of subscriptions begin operations by themselves.
 */
const noSubscriptions: Plugin<object, GatewayContext> = {
  onSubscribe({ args, setSubscribeFn }) {
    if (!('request' in args.contextValue)) return
    setSubscribeFn(() => ({ errors: [toGraphQL({ code: 'EVENTS_NOT_ACCEPTED' })] }))
  },
}

function masking(log: Log): Plugin<object, GatewayContext> {
  return {
    onExecutionResult({ result, context, setResult }) {
      if (result === undefined || isAsyncIterable(result) || Array.isArray(result)) return
      if (result.errors === undefined) return
      const errors = result.errors.filter((error) => error instanceof GraphQLError)
      setResult({ ...result, errors: maskErrors({ log, requestId: context.requestId }, errors) })
    },
    // A failure before the execution: the server itself would answer it in its own words, without a line in the log.
    onResultProcess({ result, serverContext, setResult }) {
      if (isAsyncIterable(result) || Array.isArray(result) || result.errors === undefined) return
      const errors = result.errors.filter((error) => error instanceof GraphQLError)
      const { requestId, observation } = serverContext
      noteErrors(observation, errors)
      setResult({ ...result, errors: maskErrors({ log, requestId }, errors) })
    },
  }
}
