import { GraphQLError, type GraphQLErrorOptions } from 'graphql'
import type { Result } from '../../lib/result.ts'
import { json, type RefusalForm, type RestResponse } from '../rest/response.ts'
import { errorRowOf } from './error-table.ts'
import type { GatewayError } from './gateway-error.ts'
import { shortened } from './message-words.ts'

/** Converts failures to REST and GraphQL errors; their statuses and messages are in `error-table.ts`. */

export function messageOf(error: GatewayError): string {
  return errorRowOf(error.code).message(error)
}

/**
 * Returns the REST response: the status and `{ error: { code: status, message } }`. If a route has a closed list of statuses,
 * every other status becomes 400, or 500 for a server error. If the route has a title for the status, the title precedes the
 * message.
 */
export function toRest(error: GatewayError, { statuses, titles }: RefusalForm = {}): RestResponse {
  const row = errorRowOf(error.code)
  const status = statuses === undefined ? row.status : closest(row.status, statuses)
  const title = titles?.[status]
  const sentence = row.message(error)
  const message = title === undefined ? sentence : `${title}: ${sentence}`
  const body = { error: { code: status, message } }
  return { ...json(status, body, row.headers?.(error)), code: error.code }
}

/** Returns the GraphQL error at a place of the document, with the code and the fields of the error in `extensions`. */
export function toGraphQL(error: GatewayError, place: GraphQLErrorOptions = {}): GraphQLError {
  const { code } = error
  return createGraphqlError(messageOf(error), {
    ...place,
    extensions: { ...withShortTexts(printable(fieldsOf(error))), code },
  })
}

/**
 * Creates a GraphQL error without a stack. The error is sent to the client and never logged. `graphql` copies the text of the stack,
 * and creating that text takes ten times as long as the rest of the error.
 */
export function createGraphqlError(message: string, options: GraphQLErrorOptions): GraphQLError {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return new GraphQLError(message, options)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Returns the value of a success, and throws a failure as a GraphQLError. For resolvers only. */
export function orThrow<T>(result: Result<T, GatewayError>): T {
  if (!result.ok) throw toGraphQL(result.error)
  return result.value
}

function closest(status: number, statuses: readonly number[]): number {
  if (statuses.includes(status)) return status
  return status >= 500 ? 500 : 400
}

/** The fields of an error without its code. For a malformed block or transaction, `rule` is the broken rule. */
function fieldsOf(error: GatewayError): object {
  if (error.code === 'BLOCK_MALFORMED' || error.code === 'TRANSACTION_MALFORMED') {
    const { code: rule, ...place } = error.refusal
    return { rule, ...place }
  }
  const { code: _, ...fields } = error
  return fields
}

/** Shortens texts, which may be those of the client. */
function withShortTexts(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? shortened(value) : value,
    ]),
  )
}

/** Converts fields to JSON values; a bigint becomes a string. */
export function printable(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? value.toString() : value,
    ]),
  )
}
