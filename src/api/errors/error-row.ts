import type { AuthError } from './api-errors.ts'
import type { GatewayError } from './gateway-error.ts'

/** The shape of a row of the error table, and constructors of common rows. */

/** The codes of all failures that are reported to clients. */
export type ErrorCode = GatewayError['code']
type ErrorOf<C extends ErrorCode> = Extract<GatewayError, { readonly code: C }>

export interface ErrorRow<C extends ErrorCode> {
  /** The HTTP status on REST. */
  readonly status: number
  /** One sentence that names the field and the expected value, without a capital letter and a full stop. */
  readonly message: (error: ErrorOf<C>) => string
  /** Additional headers on REST, in lower case. */
  readonly headers?: (error: ErrorOf<C>) => Readonly<Record<string, string>>
}

/** A row with status 400, for an invalid request. */
export function badRequest<C extends ErrorCode>(message: ErrorRow<C>['message']): ErrorRow<C> {
  return { status: 400, message }
}

/** A row with status 401. The client has to send another token. */
export function unauthorized<C extends AuthError['code']>(
  message: ErrorRow<C>['message'],
): ErrorRow<C> {
  const headers = () => ({ 'www-authenticate': 'Bearer' })
  return { status: 401, message: (e) => `Authorization: ${message(e)}`, headers }
}

/** A row with status 429, for a client that has too many connections or subscriptions open. */
export function tooMany<C extends ErrorCode>(message: ErrorRow<C>['message']): ErrorRow<C> {
  return { status: 429, message, headers: () => ({ 'retry-after': '1' }) }
}

/** A row with status 503, for a temporary failure. The response says when to retry. */
export function later<C extends ErrorCode>(message: ErrorRow<C>['message']): ErrorRow<C> {
  return { status: 503, message, headers: () => ({ 'retry-after': '1' }) }
}
