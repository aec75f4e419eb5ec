import { GraphQLError, type GraphQLErrorOptions, type GraphQLFormattedError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Log } from '../../../lib/log.ts'
import { queryTooLongOf, storeAwayOf } from '../../../service/network/database-away.ts'
import type { BodyError } from '../../errors/api-errors.ts'
import { errorStatuses } from '../../errors/error-table.ts'
import { createGraphqlError, messageOf } from '../../errors/errors.ts'
import { shortened } from '../../errors/message-words.ts'
import { noteCode, type Observation } from '../../observation.ts'
import type { GatewayContext } from '../builder.ts'
import { withArguments } from './refused-literals.ts'

/** Adds a code to every GraphQL error and hides internal details, for every transport. */

/** Adds codes to parse and validation errors, which the library creates without one, and arguments to errors of scalars. */
export const documentCodes: Plugin<GatewayContext> = {
  onParse() {
    return ({ result, replaceParseResult }) => {
      if (!(result instanceof GraphQLError)) return
      const { code = 'GRAPHQL_PARSE_FAILED' } = result.extensions
      // With the status: the server sets it for a document that it parses, but not for a cached parse error.
      const extensions = { ...result.extensions, code, http: { spec: true, status: 400 } }
      const message = withShortQuotes(result.message)
      replaceParseResult(new GraphQLError(message, { ...placeOf(result), extensions }))
    }
  },
  onValidate({ params: { documentAST } }) {
    return ({ result, setResult }) => {
      const errors = result.filter((error) => error instanceof GraphQLError)
      if (errors.length === 0) return
      const named = withArguments(documentAST, errors)
      setResult(named.map((e) => withCode(e, e.extensions.code ?? 'GRAPHQL_VALIDATION_FAILED')))
    }
  },
}

export interface MaskingDeps {
  readonly log: Log
  readonly requestId: string
}

/**
 * Returns the errors as the caller may see them. An error that a resolver threw on purpose keeps its code. An error caused by the
 * variables or the document of the caller has the code BAD_USER_INPUT. Every other error is logged and becomes INTERNAL.
 */
export function maskErrors(
  deps: MaskingDeps,
  errors: readonly GraphQLError[],
): readonly GraphQLError[] {
  return errors.map((error) => {
    if (isInternal(error)) return masked(deps, error)
    const ofBody = bodyErrorOf(error)
    if (ofBody !== undefined) return withBodyError(error, ofBody)
    const { code = 'BAD_USER_INPUT' } = error.extensions
    const isFinal =
      code === error.extensions.code && withShortQuotes(error.message) === error.message
    return isFinal ? error : withCode(error, code)
  })
}

/** Returns the code of an error in the response, after masking. */
function codeOf(error: GraphQLError): string {
  if (isInternal(error)) {
    const cause = causeOf(error)
    return (storeAwayOf(cause) ?? queryTooLongOf(cause))?.code ?? 'INTERNAL'
  }
  const { code = 'BAD_USER_INPUT' } = error.extensions
  return bodyErrorOf(error)?.code ?? String(code)
}

/** Records the error codes of an operation. */
export function noteErrors(
  observation: Observation | undefined,
  errors: readonly GraphQLError[] | undefined,
): void {
  for (const error of errors ?? []) noteCode(observation, codeOf(error))
}

/** The error of a request body that the server has refused; `undefined` for other errors. */
function bodyErrorOf({ extensions: { originalError } }: GraphQLError): BodyError | undefined {
  if (originalError === undefined) return undefined
  // The server repeats the whole body after the reason, and the reason may quote the body too.
  const [reason = ''] = String(Object(originalError).message).split(', "', 1)
  return { code: 'BODY_NOT_JSON', reason: shortened(reason) }
}

function withBodyError({ extensions }: GraphQLError, error: BodyError): GraphQLError {
  const { status } = Object(extensions.http)
  return new GraphQLError(messageOf(error), { extensions: { http: { status }, ...error } })
}

/**
 * Whether an error is a fault of the gateway: an exception that is not a GraphQLError, or an error of a field that has no code and no
 * location in the document, which means that a result does not match its type.
 */
function isInternal(error: GraphQLError): boolean {
  const { originalError } = error
  if (originalError === undefined) return false
  if (!(originalError instanceof GraphQLError)) return true
  if (originalError.originalError !== undefined) return isInternal(originalError)
  return (
    error.extensions.code === undefined &&
    error.path !== undefined &&
    originalError.nodes === undefined
  )
}

/** Returns an error without its status. It has only the members that the server reads, which would copy an instance of the class. */
export function withoutStatus(error: GraphQLError): GraphQLError {
  const { message, extensions } = error
  return { message, extensions, toJSON: () => printSocketError(error) } as GraphQLError
}

/** Prints an error for a WebSocket or event stream: without the status, which only an HTTP response has. */
export function printSocketError(error: GraphQLError): GraphQLFormattedError {
  const { extensions, ...rest } = error.toJSON()
  const { http: _, ...fields } = extensions ?? {}
  return { ...rest, extensions: fields }
}

/**
 * Returns an error of a response without data, with the status of that response (GraphQL over HTTP, 6.4.2). It holds only for clients
 * that accept GraphQL's own media type; the server removes it from the response.
 */
export function withStatus(error: GraphQLError): GraphQLError {
  const { message, extensions } = error
  if (extensions.http !== undefined) return error
  const http = { spec: true, status: errorStatuses.get(String(extensions.code)) ?? 400 }
  return createGraphqlError(message, { ...placeOf(error), extensions: { ...extensions, http } })
}

/** Returns the original exception. */
export function causeOf(error: GraphQLError): unknown {
  const { originalError } = error
  return originalError instanceof GraphQLError ? causeOf(originalError) : originalError
}

function masked({ log, requestId }: MaskingDeps, error: GraphQLError): GraphQLError {
  // The store logs the outage once, so it is not logged for every request.
  const cause = causeOf(error)
  const known = storeAwayOf(cause) ?? queryTooLongOf(cause)
  if (known !== undefined) {
    return createGraphqlError(messageOf(known), { ...placeOf(error), extensions: { ...known } })
  }
  log.error('request-failed', {
    requestId,
    path: error.path?.join('.'),
    error: error.originalError,
  })
  const internal = { code: 'INTERNAL', requestId } as const
  return createGraphqlError(messageOf(internal), { ...placeOf(error), extensions: internal })
}

function withCode(error: GraphQLError, code: unknown): GraphQLError {
  const { extensions } = error
  const message = withShortQuotes(error.message)
  return createGraphqlError(message, { ...placeOf(error), extensions: { ...extensions, code } })
}

/**
 * Shortens texts, words, lists and objects in a message to 200 characters, and the message to 1,000: the library repeats values of any
 * length. The place and the reason that follow an object are kept.
 */
function withShortQuotes(message: string): string {
  return endsOf(message)
    .replace(
      // An open quote is matched too, or the search would begin again at each quote behind it.
      /"((?:[^"\\]|\\.)*)("|\\?$)/gs,
      (_quoted, text: string, end: string) => `"${shortened(text)}${end}`,
    )
    .replace(/[^\s"]+/g, (word) => shortened(word))
    .replace(/([[{].{199}).+?(?=(?: at "[^"]*")?; [^;]{0,400}$|$)/gs, '$1…')
    .replace(/^(.{1000}).+$/s, '$1…')
}

/** Both ends of a long message. An expression that matches them tries ten thousand ends for each message. */
function endsOf(message: string): string {
  if (message.length <= 20_000) return message
  return `${message.slice(0, 10_000)}…${message.slice(-10_000)}`
}

/** Returns the location of an error without undefined members, which the constructor does not accept. */
function placeOf({ nodes, source, positions, path }: GraphQLError): GraphQLErrorOptions {
  return {
    ...(nodes && { nodes }),
    ...(source && { source }),
    ...(positions && { positions }),
    ...(path && { path }),
  }
}
