import type { AuthError } from './api-errors.ts'
import type { GatewayError } from './gateway-error.ts'

/** The form of a row of the error table, and the rows that many failures have. */

/** The codes of all failures that a client can meet. */
export type ErrorCode = GatewayError['code']
type ErrorOf<C extends ErrorCode> = Extract<GatewayError, { readonly code: C }>

/** The row of one failure. */
export interface ErrorRow<C extends ErrorCode> {
  /** The HTTP status on REST. */
  readonly status: number
  /** One sentence that names the field and says what is expected; without a capital, without a full stop. */
  readonly message: (error: ErrorOf<C>) => string
  /** More headers on REST, in lower case. */
  readonly headers?: (error: ErrorOf<C>) => Readonly<Record<string, string>>
}

/** A fault of the request. */
export function badRequest<C extends ErrorCode>(message: ErrorRow<C>['message']): ErrorRow<C> {
  return { status: 400, message }
}

/** Every failure of a token has one remedy for a client: another token. */
export function unauthorized<C extends AuthError['code']>(
  message: ErrorRow<C>['message'],
): ErrorRow<C> {
  const headers = () => ({ 'www-authenticate': 'Bearer' })
  return { status: 401, message: (e) => `Authorization: ${message(e)}`, headers }
}

/** A client has too much open at once. */
export function tooMany<C extends ErrorCode>(message: ErrorRow<C>['message']): ErrorRow<C> {
  return { status: 429, message, headers: () => ({ 'retry-after': '1' }) }
}

/** A failure that may pass: the answer names the time of the next attempt. */
export function later<C extends ErrorCode>(message: ErrorRow<C>['message']): ErrorRow<C> {
  return { status: 503, message, headers: () => ({ 'retry-after': '1' }) }
}
