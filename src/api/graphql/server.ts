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
import { passTurn } from '../../lib/turns.ts'
import { toGraphQL } from '../errors/errors.ts'
import { noteOperation } from '../observation.ts'
import type { GatewayContext } from './builder.ts'
import { snapshotPlugin } from './execution/at-snapshot.ts'
import { costLimit, introspectionWork, refusedByHttp } from './execution/cost.ts'
import { costReport } from './execution/cost-report.ts'
import { type Documents, namedDocuments } from './execution/documents.ts'
import { hiddenSchema } from './execution/hidden-schema.ts'
import { documentLimits, maxCachedCharacters, maxErrorCharacters } from './execution/limits.ts'
import {
  documentCodes,
  maskErrors,
  noteErrors,
  withoutStatus,
  withStatus,
} from './execution/masking.ts'
import { overlappingFields } from './execution/overlapping-fields.ts'
import { errorCost } from './execution/prices.ts'
import { shareLimit } from './execution/share-limit.ts'
import { createRepeatedTextCache, createTextCache } from './execution/text-cache.ts'
import { validInParts } from './execution/validation.ts'
import { refusedVariables } from './execution/variables.ts'

/** The GraphQL server for HTTP. `ws.ts` uses its parser, validator and executor for WebSocket connections. */
export type GraphqlServer = ReturnType<typeof createGraphqlServer>

export interface GraphqlDeps {
  readonly schema: GraphQLSchema
  readonly log: Log
  readonly documents: Documents
  /** Whether clients may introspect the schema and errors suggest names. */
  readonly hasIntrospection?: boolean | undefined
}

/** Creates the GraphQL server. The context of a request is passed with the request. */
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
      pauses,
      unnamedOperations,
      namedDocuments(documents),
      ...(hasIntrospection ? [] : [hiddenSchema]),
      documentCodes,
      documentLimits,
      overlappingFields,
      validInParts,
      costLimit,
      shareLimit,
      endings,
      noting,
      snapshotPlugin,
      costReport,
      noSubscriptions,
      masking(log),
    ],
    // `masking` masks errors, so that the log line and the response have the same request id. The HTTP server handles CORS and GraphiQL.
    maskedErrors: false,
    graphiql: false,
    cors: false,
    landingPage: false,
    multipart: false,
    logging: false,
    // The body is read before.
    maxRequestBodySize: false,
    // The default caches 1,024 documents of any size for an hour.
    parserAndValidationCache: {
      documentCache: createRepeatedTextCache(maxCachedCharacters),
      errorCache: createTextCache(maxErrorCharacters),
    },
  })
}

/**
 * Ends an operation whose client has disconnected or whose response is too large. Remaining fields are not resolved, and the resolved
 * values are dropped. A subscription ends when its client ends the iterator, and each of its events is a response of its own.
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

/** Ends the turn in which a long body was parsed: coercing its variables takes as long again. */
const pauses: Plugin<GatewayContext, GatewayContext> = {
  onParams: ({ context: { share } }) => passTurn(share.client),
}

/** Takes an empty name of an operation for none, in a body as in a URL (GraphQL over HTTP, GET): an operation cannot have it. */
const unnamedOperations: Plugin = {
  onParams({ params, setParams }) {
    const { operationName, ...rest } = params
    if (operationName === '') setParams(rest)
  },
}

/** Uses the executor of `graphql`: the executor of the server writes asynchronous fields last, not in the order of the selection. */
const inOrder: Plugin = {
  onExecute: ({ setExecuteFn }) => setExecuteFn((args) => refusedVariables(args) ?? execute(args)),
  onSubscribe: ({ setSubscribeFn }) =>
    setSubscribeFn((args) => refusedVariables(args) ?? subscribe(args)),
}

/** Settles like the work, but rejects as soon as the signal fires. The result of the work is then dropped. */
function unlessAborted<T>(signal: AbortSignal, work: Promise<T> | T): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    Promise.resolve(work).then(resolve, reject)
  })
}

/** Records the operation of an HTTP request. WebSocket and event stream transports record it when they read an operation. */
const noting: Plugin<GatewayContext, GatewayContext> = {
  onExecute({ args: { document, operationName, contextValue } }) {
    if (!('request' in contextValue)) return
    const operation = getOperationAST(document, operationName)
    if (operation) noteOperation(contextValue.observation, operation)
  },
}

/**
 * Refuses subscriptions by HTTP: the server would answer them with a stream without limits, cursors and a notice of shutdown. Only the
 * server adds `request` to the context; the transports for subscriptions start operations themselves.
 */
const noSubscriptions: Plugin<object, GatewayContext> = {
  onSubscribe({ args, setSubscribeFn }) {
    if (!('request' in args.contextValue)) return
    setSubscribeFn(() => ({ errors: [toGraphQL({ code: 'EVENTS_NOT_ACCEPTED' })] }))
  },
}

function masking(log: Log): Plugin<object, GatewayContext> {
  return {
    async onExecutionResult({ result, context: { requestId, share }, setResult }) {
      if (result === undefined || isAsyncIterable(result) || Array.isArray(result)) return
      if (result.errors === undefined) return
      const errors = result.errors.filter((error) => error instanceof GraphQLError)
      const masked: GraphQLError[] = []
      // A list has thousands of errors if each of its items fails.
      for (let at = 0; at < errors.length; at += errorsPerTurn) {
        await passTurn(share.client)
        masked.push(...maskErrors({ log, requestId }, errors.slice(at, at + errorsPerTurn)))
      }
      setResult({ ...result, errors: masked })
    },
    // A failure before the execution. The server would format it itself, without a log line.
    onResultProcess({ result, serverContext, setResult }) {
      if (isAsyncIterable(result) || Array.isArray(result) || result.errors === undefined) return
      const errors = result.errors.filter((error) => error instanceof GraphQLError)
      const { requestId, observation } = serverContext
      noteErrors(observation, errors)
      const [first, ...others] = errors
      if ('data' in result && first !== undefined) {
        // These were masked after the execution. The server copies each GraphQLError, which takes 40 µs; it looks for at least one.
        setResult({ ...result, errors: [first, ...others.map(withoutStatus)] })
        return
      }
      setResult({ ...result, errors: maskErrors({ log, requestId }, errors).map(withStatus) })
    },
  }
}

const errorsPerTurn = 64
