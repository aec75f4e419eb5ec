import type { AuthError } from './api-errors.ts'
import { type ErrorRow, unauthorized } from './error-row.ts'
import { isoTime, shortened } from './message-words.ts'

/** The rows of the error table about tokens. */

/** The type requires a row for each code. */
export const tokenErrorRows: { readonly [C in AuthError['code']]: ErrorRow<C> } = {
  TOKEN_MISSING: unauthorized(() => 'a token is required'),
  TOKEN_MALFORMED: unauthorized(() => 'the token is not a JSON Web Token'),
  TOKEN_UNSIGNED: unauthorized(() => 'the token is not signed'),
  TOKEN_ALGORITHM_REFUSED: unauthorized(
    (e) => `the token is signed with ${shortened(e.given)}, and only ${e.expected} is accepted`,
  ),
  TOKEN_KEY_UNKNOWN: unauthorized(
    () => 'the token names a key (kid) that is not in the key set of this gateway',
  ),
  TOKEN_SIGNATURE_INVALID: unauthorized(
    () => 'the token is not signed with the key of this gateway',
  ),
  TOKEN_EXPIRED: unauthorized((e) => `the token expired at ${isoTime(e.expiredAt)}`),
  TOKEN_NOT_YET_VALID: unauthorized(() => 'the token is not valid yet'),
  TOKEN_CLAIM_MISSING: unauthorized(
    (e) => `the token has no claim ${e.claim}, which is required here`,
  ),
  TOKEN_ISSUER_REFUSED: unauthorized(() => 'the issuer (iss) of the token is not JWT_ISSUER'),
  TOKEN_AUDIENCE_REFUSED: unauthorized(
    () => 'the audience (aud) of the token does not include JWT_AUDIENCE',
  ),
  TOKEN_SUBJECT_INVALID: unauthorized(
    (e) => `the subject (sub) of the token must be text of 1 to ${e.limit} printable characters`,
  ),
  TOKEN_REVOKED: unauthorized(() => 'the token is revoked'),
  PERMISSION_MISSING: {
    status: 403,
    message: (e) => `Authorization: the token lacks the permission ${e.permission}`,
  },
}
