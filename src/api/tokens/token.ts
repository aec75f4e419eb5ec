import { type KeyObject, randomUUID } from 'node:crypto'
import type { JWTPayload } from 'jose'
// Imported by module, because the whole package loads three times as many files.
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import * as errors from 'jose/errors'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import { err, ok, type Result } from '../../lib/result.ts'
import type { TokenError } from '../errors/api-errors.ts'
import type { KeySet } from './key-set.ts'
import { keySetAlgorithms, type SigningKey } from './signing-key.ts'

/** Issues and verifies JSON Web Tokens with the permissions of rest.md 2.3. */

/**
 * The scopes of tokens. `block:submit` is for gateways that accept blocks only from token holders. A gateway answers holders of
 * `operator` even when it is overloaded and refuses everyone else.
 */
export const scopes = ['chain-record:write', 'block:submit', 'operator'] as const

export type Scope = (typeof scopes)[number]

export interface TokenClaims {
  /** The `sub` claim. */
  readonly subject: string | undefined
  /** The `jti` claim. */
  readonly id: string | undefined
  /** Whether the token may set chain records: by the claim `permissions.write`, or by the scope `chain-record:write`. */
  readonly canWrite: boolean
  /** Whether the token may submit blocks: a token with scopes needs `block:submit` (docs/decisions/004). */
  readonly canSubmit: boolean
  /** Whether the token has the scope `operator`. */
  readonly isOperator: boolean
  /** Expiry in Unix seconds, including the leeway; `undefined` if the token does not expire. */
  readonly expiresAt: number | undefined
}

/** The requirements of the operator on tokens. */
export interface TokenRules {
  /** The required `iss` claim; any by default. */
  readonly issuer: string | undefined
  /** The value that the `aud` claim must include; any by default. */
  readonly audience: string | undefined
  /** Whether a token without `exp` is refused. */
  readonly mustExpire: boolean
  /** Maximum age of a token since its `iat`, whatever its `exp`; this rule requires `iat`. */
  readonly maxAgeSeconds: number | undefined
  /** Tolerance for clock differences of issuers. */
  readonly leewaySeconds: number
}

/** The requirements of rest.md 2.3 alone. */
export const openRules: TokenRules = {
  issuer: undefined,
  audience: undefined,
  mustExpire: false,
  maxAgeSeconds: undefined,
  leewaySeconds: 0,
}

export interface TokenCheck {
  readonly key: SigningKey
  /** Keys of an external issuer; a token names its key in the header. */
  readonly keySet?: KeySet | undefined
  /** `openRules` by default. */
  readonly rules?: TokenRules | undefined
}

/** The contents of a new token. */
export interface TokenRequest {
  readonly subject: string
  readonly scopes: readonly Scope[]
  readonly lifetimeSeconds: number
  /** Unix time in milliseconds. */
  readonly nowMs: number
  /** `ledger-gateway` by default. */
  readonly issuer?: string | undefined
  readonly audience?: string | undefined
}

/** Maximum length of a subject, in characters. */
export const maxSubjectLength = 256

/** Maximum length of a token, in characters; a longer text is refused without any work. */
const maxTokenLength = 16_384

export async function issueToken(key: SigningKey, request: TokenRequest): Promise<string> {
  const { issuer = 'ledger-gateway', audience, scopes } = request
  const now = Math.floor(request.nowMs / 1000)
  const permissions = scopes.includes('chain-record:write') ? { write: {} } : {}
  const claims = { scope: scopes.join(' '), permissions }
  return new SignJWT(audience === undefined ? claims : { ...claims, aud: audience })
    .setProtectedHeader({ alg: key.algorithm, typ: 'JWT' })
    .setIssuer(issuer)
    .setSubject(request.subject)
    .setJti(randomUUID())
    .setIssuedAt(now)
    .setExpirationTime(now + request.lifetimeSeconds)
    .sign(key.sign)
}

/** Verifies a token at a time in Unix milliseconds. A key is used only with its own algorithm. */
export async function verifyToken(
  check: TokenCheck,
  token: string,
  nowMs: number,
): Promise<Result<TokenClaims, TokenError>> {
  const { rules = openRules } = check
  const key = await keyOf(check, token)
  if (!key.ok) return key
  try {
    const { payload } = await jwtVerify(token, key.value.key, {
      algorithms: [key.value.algorithm],
      currentDate: new Date(nowMs),
      clockTolerance: rules.leewaySeconds,
      ...(rules.issuer !== undefined && { issuer: rules.issuer }),
      ...(rules.audience !== undefined && { audience: rules.audience }),
      ...(rules.maxAgeSeconds !== undefined && { maxTokenAge: rules.maxAgeSeconds }),
      ...(rules.mustExpire && { requiredClaims: ['exp'] }),
    })
    return claimsOf(payload, rules)
  } catch (thrown) {
    const error = tokenError(thrown, rules)
    if (error === undefined) throw thrown
    return err(error)
  }
}

/** Whether a subject is valid: printable text of limited length, because records and lists show it. */
export function isSubject(subject: unknown): subject is string {
  if (typeof subject !== 'string' || /[\p{C}\p{Zl}\p{Zp}]/u.test(subject)) return false
  const length = [...subject].length
  return length > 0 && length <= maxSubjectLength
}

interface KeyOfToken {
  readonly algorithm: string
  readonly key: KeyObject | CryptoKey
}

/** Selects the key. If there is a key set, it verifies the tokens that name a key; the gateway's own key verifies the others. */
async function keyOf(
  { key, keySet }: TokenCheck,
  token: string,
): Promise<Result<KeyOfToken, TokenError>> {
  const header = headerOf(token)
  if (header === undefined) return err({ code: 'TOKEN_MALFORMED' })
  const { algorithm, kid } = header
  if (algorithm.toLowerCase() === 'none') return err({ code: 'TOKEN_UNSIGNED' })
  const isOfSet = keySet !== undefined && kid !== undefined
  const allowed: readonly string[] = isOfSet ? keySetAlgorithms : [key.algorithm]
  if (!allowed.includes(algorithm)) {
    return err({
      code: 'TOKEN_ALGORITHM_REFUSED',
      given: algorithm,
      expected: allowed.join(' or '),
    })
  }
  if (!isOfSet) return ok({ algorithm, key: key.verify })
  const found = await keySet.find({ algorithm, kid })
  return found === undefined ? err({ code: 'TOKEN_KEY_UNKNOWN' }) : ok({ algorithm, key: found })
}

function headerOf(
  token: string,
): { readonly algorithm: string; readonly kid: string | undefined } | undefined {
  if (token.length > maxTokenLength || token.split('.').length !== 3) return undefined
  try {
    const { alg, kid }: Record<string, unknown> = decodeProtectedHeader(token)
    if (typeof alg !== 'string' || (kid !== undefined && typeof kid !== 'string')) return undefined
    return { algorithm: alg, kid }
  } catch {
    // The header is not JSON in base64url, which the library reports only by throwing.
    return undefined
  }
}

/** Reads the remaining claims; the library has checked those about time, issuer and audience. */
function claimsOf(payload: JWTPayload, rules: TokenRules): Result<TokenClaims, TokenError> {
  const { sub: subject, jti: id, scope }: Record<string, unknown> = payload
  if (subject !== undefined && !isSubject(subject)) {
    return err({ code: 'TOKEN_SUBJECT_INVALID', limit: maxSubjectLength })
  }
  if (id !== undefined && typeof id !== 'string') return err({ code: 'TOKEN_MALFORMED' })
  const named = typeof scope === 'string' ? scope.split(' ') : undefined
  return ok({
    subject,
    id,
    canWrite: hasWrite(payload) || named?.includes('chain-record:write') === true,
    canSubmit: scope === undefined || named?.includes('block:submit') === true,
    isOperator: named?.includes('operator') === true,
    expiresAt: endOf(payload, rules),
  })
}

/** Whether the claim of rest.md 2.3 permits writing. A permission has an empty object as its value; `false` and `null` permit nothing. */
function hasWrite(payload: JWTPayload): boolean {
  // The index signature of the payload would make each claim `unknown`.
  const { permissions }: Record<string, unknown> = payload
  if (typeof permissions !== 'object' || permissions === null) return false
  const write = Object.getOwnPropertyDescriptor(permissions, 'write')?.value
  return write === true || (typeof write === 'object' && write !== null)
}

function endOf({ exp, iat }: JWTPayload, rules: TokenRules): number | undefined {
  const { maxAgeSeconds, leewaySeconds } = rules
  const byAge = maxAgeSeconds === undefined || iat === undefined ? undefined : iat + maxAgeSeconds
  const ends = [exp, byAge].filter((end) => end !== undefined)
  // Dates in tokens may have a fraction (RFC 7519 2), but the notice to feeds has whole seconds.
  return ends.length === 0 ? undefined : Math.floor(Math.min(...ends)) + leewaySeconds
}

function tokenError(thrown: unknown, rules: TokenRules): TokenError | undefined {
  if (thrown instanceof errors.JWTExpired) {
    const expiredAt = endOf(thrown.payload, { ...rules, leewaySeconds: 0 }) ?? 0
    return Math.abs(expiredAt) > maxUnixSeconds
      ? { code: 'TOKEN_MALFORMED' }
      : { code: 'TOKEN_EXPIRED', expiredAt }
  }
  if (thrown instanceof errors.JWSSignatureVerificationFailed) {
    return { code: 'TOKEN_SIGNATURE_INVALID' }
  }
  if (thrown instanceof errors.JWTClaimValidationFailed) return claimError(thrown)
  return thrown instanceof errors.JOSEError ? { code: 'TOKEN_MALFORMED' } : undefined
}

function claimError({ claim, reason }: errors.JWTClaimValidationFailed): TokenError {
  if (claim === 'iss') return { code: 'TOKEN_ISSUER_REFUSED' }
  if (claim === 'aud') return { code: 'TOKEN_AUDIENCE_REFUSED' }
  if (reason === 'missing' && (claim === 'exp' || claim === 'iat')) {
    return { code: 'TOKEN_CLAIM_MISSING', claim }
  }
  const isEarly = (claim === 'nbf' || claim === 'iat') && reason === 'check_failed'
  return { code: isEarly ? 'TOKEN_NOT_YET_VALID' : 'TOKEN_MALFORMED' }
}

/** The largest Unix time in seconds that a Date can hold (ECMAScript, 21.4.1.1). */
const maxUnixSeconds = 8_640_000_000_000
