import { GraphQLError, type GraphQLErrorOptions, type GraphQLFormattedError } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Log } from '../../lib/log.ts'
import { queryTooLongOf, storeAwayOf } from '../../service/network/database-away.ts'
import { answeredError, messageOf } from '../errors.ts'
import type { Observation } from '../observation.ts'
import { maxBodyBytes } from '../rest/body.ts'
import type { GatewayContext } from './builder.ts'

/** Gives every error of GraphQL a code, and hides what only the log may have, for every transport. */

/** Marks errors of reading and of validating a document, which come without a code. */
export const documentCodes: Plugin<GatewayContext> = {
  onParse() {
    return ({ result, replaceParseResult }) => {
      if (!(result instanceof GraphQLError)) return
      const { code = 'GRAPHQL_PARSE_FAILED' } = result.extensions
      // The status too: the server gives it to a document that it parses, and not to one whose error it has kept.
      const extensions = { ...result.extensions, code, http: { spec: true, status: 400 } }
      const message = withShortQuotes(result.message)
      replaceParseResult(new GraphQLError(message, { ...placeOf(result), extensions }))
    }
  },
  onValidate() {
    return ({ result, setResult }) => {
      const codeless = result.some((error) => error.extensions.code === undefined)
      if (codeless) setResult(result.map((e) => withCode(e, 'GRAPHQL_VALIDATION_FAILED')))
    }
  },
}

/** What masking needs to know of a request. */
export interface MaskingDeps {
  readonly log: Log
  readonly requestId: string
}

/**
 * The errors as the caller may see them. What a resolver threw on purpose keeps its code; what the caller's variables
 * or document caused gets BAD_USER_INPUT; everything else is logged and becomes INTERNAL.
 */
export function maskErrors(
  deps: MaskingDeps,
  errors: readonly GraphQLError[],
): readonly GraphQLError[] {
  return errors.map((error) => {
    if (isOurs(error)) return masked(deps, error)
    if (error.extensions.code === serverTooLarge) return bodyTooLarge(error)
    const { code = 'BAD_USER_INPUT' } = error.extensions
    const isFinal =
      code === error.extensions.code && withShortQuotes(error.message) === error.message
    return isFinal ? error : withCode(error, code)
  })
}

/** The code that an error is answered with, masked or not. */
function codeOf(error: GraphQLError): string {
  if (isOurs(error)) {
    const cause = causeOf(error)
    return (storeAwayOf(cause) ?? queryTooLongOf(cause))?.code ?? 'INTERNAL'
  }
  const { code = 'BAD_USER_INPUT' } = error.extensions
  return code === serverTooLarge ? 'BODY_TOO_LARGE' : String(code)
}

/** Notes why an operation failed. */
export function noteErrors(
  observation: Observation | undefined,
  errors: readonly GraphQLError[] | undefined,
): void {
  for (const error of errors ?? []) observation?.codes.add(codeOf(error))
}

/** The server's own code for a body that is too long. */
const serverTooLarge = 'REQUEST_ENTITY_TOO_LARGE'

function bodyTooLarge({ extensions }: GraphQLError): GraphQLError {
  const error = { code: 'BODY_TOO_LARGE', limit: maxBodyBytes } as const
  return new GraphQLError(messageOf(error), { extensions: { ...extensions, ...error } })
}

/**
 * Whether an error is our own fault. An exception that is no GraphQLError is. So is one without a code that arose in a
 * field but points at nothing in the document: a result that does not fit its type.
 */
function isOurs(error: GraphQLError): boolean {
  const { originalError } = error
  if (originalError === undefined) return false
  if (!(originalError instanceof GraphQLError)) return true
  if (originalError.originalError !== undefined) return isOurs(originalError)
  return (
    error.extensions.code === undefined &&
    error.path !== undefined &&
    originalError.nodes === undefined
  )
}

/** An error as a socket or a stream sends it: without the status, which only an answer of HTTP has. */
export function printSocketError(error: GraphQLError): GraphQLFormattedError {
  const { extensions, ...rest } = error.toJSON()
  const { http: _, ...fields } = extensions ?? {}
  return { ...rest, extensions: fields }
}

/** The original exception. */
export function causeOf(error: GraphQLError): unknown {
  const { originalError } = error
  return originalError instanceof GraphQLError ? causeOf(originalError) : originalError
}

function masked({ log, requestId }: MaskingDeps, error: GraphQLError): GraphQLError {
  // Said once by the store, and not for every request.
  const cause = causeOf(error)
  const known = storeAwayOf(cause) ?? queryTooLongOf(cause)
  if (known !== undefined) {
    return answeredError(messageOf(known), { ...placeOf(error), extensions: { ...known } })
  }
  log.error('request-failed', {
    requestId,
    path: error.path?.join('.'),
    error: error.originalError,
  })
  const internal = { code: 'INTERNAL', requestId } as const
  return answeredError(messageOf(internal), { ...placeOf(error), extensions: internal })
}

function withCode(error: GraphQLError, code: unknown): GraphQLError {
  const { extensions } = error
  const message = withShortQuotes(error.message)
  return answeredError(message, { ...placeOf(error), extensions: { ...extensions, code } })
}

/** The library repeats a value of any length, in quotation marks or bare: 200 characters of it are enough. */
function withShortQuotes(message: string): string {
  return message
    .replace(/"((?:[^"\\]|\\.){200})(?:[^"\\]|\\.)*"/gs, '"$1…"')
    .replace(/(\S{202})\S+/g, '$1…')
}

/** The constructor does not take an absent member that is spelled out. */
function placeOf({ nodes, source, positions, path }: GraphQLError): GraphQLErrorOptions {
  return {
    ...(nodes && { nodes }),
    ...(source && { source }),
    ...(positions && { positions }),
    ...(path && { path }),
  }
}
