import { GraphQLError, type GraphQLErrorOptions } from 'graphql'
import type { Result } from '../lib/result.ts'
import { errorRowOf } from './error-table.ts'
import type { GatewayError } from './gateway-error.ts'
import { json, type RefusalForm, type RestResponse } from './rest/response.ts'

/** Failures as REST and GraphQL answer them; their statuses and messages are in `error-table.ts`. */

/** The sentence for an error. */
export function messageOf(error: GatewayError): string {
  return errorRowOf(error.code).message(error)
}

/**
 * The answer of REST: the status and `{ error: { code: status, message } }`. Where a route has a closed list of statuses,
 * every other status becomes 400, or 500 for a fault of the server. Where it has a title for a status, the sentence follows
 * it.
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

/** The error of GraphQL: the code and the error's fields in `extensions`. */
export function toGraphQL(error: GatewayError): GraphQLError {
  const { code } = error
  return answeredError(messageOf(error), { extensions: { ...printable(fieldsOf(error)), code } })
}

/**
 * An error that is answered and never logged, so it has no stack: `graphql` copies the text of the stack, and to make that text takes
 * ten times as long as the rest of the error.
 */
export function answeredError(message: string, options: GraphQLErrorOptions): GraphQLError {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return new GraphQLError(message, options)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** The value of a success; a failure is thrown as a GraphQLError. For resolvers only. */
export function orThrow<T>(result: Result<T, GatewayError>): T {
  if (!result.ok) throw toGraphQL(result.error)
  return result.value
}

function closest(status: number, statuses: readonly number[]): number {
  if (statuses.includes(status)) return status
  return status >= 500 ? 500 : 400
}

/** The fields of an error besides its code; of a malformed block or transaction the broken rule is `rule`. */
function fieldsOf(error: GatewayError): object {
  if (error.code === 'BLOCK_MALFORMED' || error.code === 'TRANSACTION_MALFORMED') {
    const { code: rule, ...place } = error.refusal
    return { rule, ...place }
  }
  const { code: _, ...fields } = error
  return fields
}

/** Fields as JSON, which has no bigint. */
export function printable(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? value.toString() : value,
    ]),
  )
}
