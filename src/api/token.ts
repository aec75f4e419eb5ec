import { randomUUID } from 'node:crypto'
import type { JWTPayload } from 'jose'
// One by one, for the whole package has three times as many files to load.
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import * as errors from 'jose/errors'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import { err, ok, type Result } from '../lib/result.ts'
import type { TokenError } from './api-errors.ts'
import type { SigningKey } from './signing-key.ts'

/** Tokens: JSON Web Tokens with the permissions of rest.md 2.3. */

/**
 * What a token may be made for. `block:submit` is for gateways that take blocks from holders of a token only, `operator` is
 * answered also while others are not, because the gateway has too much to do.
 */
export const scopes = ['chain-record:write', 'block:submit', 'operator'] as const

/** One thing a token allows. */
export type Scope = (typeof scopes)[number]

/** What a valid token says. */
export interface TokenClaims {
  /** The `sub` claim. */
  readonly subject: string | undefined
  /** Whether it may set chain records: the claim `permissions.write`, or the scope for it. */
  readonly canWrite: boolean
  /** Whether it has the scope of the operator. */
  readonly isOperator: boolean
  /** The `exp` claim: the end of its validity in Unix seconds. */
  readonly expiresAt: number | undefined
}

/** What a new token shall say. */
export interface TokenRequest {
  readonly subject: string
  readonly scopes: readonly Scope[]
  readonly lifetimeSeconds: number
  /** Unix time in milliseconds. */
  readonly nowMs: number
}

/** Makes a token. */
export async function issueToken(key: SigningKey, request: TokenRequest): Promise<string> {
  const now = Math.floor(request.nowMs / 1000)
  const permissions = request.scopes.includes('chain-record:write') ? { write: {} } : {}
  return new SignJWT({ scope: request.scopes.join(' '), permissions })
    .setProtectedHeader({ alg: key.algorithm, typ: 'JWT' })
    .setIssuer('ledger-gateway')
    .setSubject(request.subject)
    .setJti(randomUUID())
    .setIssuedAt(now)
    .setExpirationTime(now + request.lifetimeSeconds)
    .sign(key.sign)
}

/** Checks a token at a moment (Unix milliseconds). Only the key's own algorithm is accepted. */
export async function verifyToken(
  key: SigningKey,
  token: string,
  nowMs: number,
): Promise<Result<TokenClaims, TokenError>> {
  const algorithm = algorithmOf(token)
  if (algorithm === undefined) return err({ code: 'TOKEN_MALFORMED' })
  if (algorithm.toLowerCase() === 'none') return err({ code: 'TOKEN_UNSIGNED' })
  if (algorithm !== key.algorithm) {
    return err({ code: 'TOKEN_ALGORITHM_REFUSED', given: algorithm, expected: key.algorithm })
  }
  try {
    const { payload } = await jwtVerify(token, key.verify, {
      algorithms: [key.algorithm],
      currentDate: new Date(nowMs),
    })
    // The library checks only the claims about time.
    const { sub: subject }: Record<string, unknown> = payload
    if (subject !== undefined && !isName(subject)) return err({ code: 'TOKEN_MALFORMED' })
    const canWrite = grantsWrite(payload)
    const isOperator = scopesOf(payload).includes('operator')
    return ok({ subject, canWrite, isOperator, expiresAt: payload.exp })
  } catch (thrown) {
    const error = tokenError(thrown)
    if (error === undefined) throw thrown
    return err(error)
  }
}

/** Text that can be kept: PostgreSQL has no NUL, and neither database a half of a surrogate pair. */
function isName(subject: unknown): subject is string {
  return typeof subject === 'string' && !/[\p{Cc}\p{Cs}]/u.test(subject)
}

function algorithmOf(token: string): string | undefined {
  if (token.split('.').length !== 3) return undefined
  try {
    const { alg } = decodeProtectedHeader(token)
    return typeof alg === 'string' ? alg : undefined
  } catch {
    // The header is no base64url of JSON; the library has no other way to say so.
    return undefined
  }
}

function grantsWrite(claims: JWTPayload): boolean {
  // A payload has an index signature, and by it any claim is unknown.
  const { permissions }: Record<string, unknown> = claims
  const byPermission =
    typeof permissions === 'object' && permissions !== null && Object.hasOwn(permissions, 'write')
  return byPermission || scopesOf(claims).includes('chain-record:write')
}

function scopesOf(claims: JWTPayload): readonly string[] {
  const { scope }: Record<string, unknown> = claims
  return typeof scope === 'string' ? scope.split(' ') : []
}

function tokenError(thrown: unknown): TokenError | undefined {
  if (thrown instanceof errors.JWTExpired) {
    const { exp = 0 } = thrown.payload
    return Math.abs(exp) > farthestSeconds
      ? { code: 'TOKEN_MALFORMED' }
      : { code: 'TOKEN_EXPIRED', expiredAt: exp }
  }
  if (thrown instanceof errors.JWSSignatureVerificationFailed) {
    return { code: 'TOKEN_SIGNATURE_INVALID' }
  }
  if (thrown instanceof errors.JWTClaimValidationFailed) {
    const early = thrown.claim === 'nbf' && thrown.reason === 'check_failed'
    return { code: early ? 'TOKEN_NOT_YET_VALID' : 'TOKEN_MALFORMED' }
  }
  return thrown instanceof errors.JOSEError ? { code: 'TOKEN_MALFORMED' } : undefined
}

/** Of a moment from 1970 on that has a date (ECMAScript, 21.4.1.1). */
const farthestSeconds = 8_640_000_000_000
