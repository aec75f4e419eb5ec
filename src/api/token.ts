import { type KeyObject, randomUUID } from 'node:crypto'
import type { JWTPayload } from 'jose'
// One by one, for the whole package has three times as many files to load.
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import * as errors from 'jose/errors'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import { err, ok, type Result } from '../lib/result.ts'
import type { TokenError } from './api-errors.ts'
import type { KeySet } from './key-set.ts'
import { keySetAlgorithms, type SigningKey } from './signing-key.ts'

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
  /** The `jti` claim. */
  readonly id: string | undefined
  /** Whether it may set chain records: the claim `permissions.write`, or the scope for it. */
  readonly canWrite: boolean
  /** Whether it may submit blocks: where it has scopes, one of them says so (docs/decisions/004). */
  readonly canSubmit: boolean
  /** Whether it has the scope of the operator. */
  readonly isOperator: boolean
  /** The end of its validity in Unix seconds, leeway included; `undefined` for one without end. */
  readonly expiresAt: number | undefined
}

/** What the operator demands of tokens. */
export interface TokenRules {
  /** The `iss` that a token must have; any by default. */
  readonly issuer: string | undefined
  /** The `aud` that a token must name; any by default. */
  readonly audience: string | undefined
  /** Whether a token without `exp` is refused. */
  readonly mustExpire: boolean
  /** How long after its `iat` a token is taken, whatever its `exp`; such a rule demands `iat`. */
  readonly maxAgeSeconds: number | undefined
  /** How far the clocks of issuers may be off. */
  readonly leewaySeconds: number
}

/** What rest.md 2.3 demands. */
export const openRules: TokenRules = {
  issuer: undefined,
  audience: undefined,
  mustExpire: false,
  maxAgeSeconds: undefined,
  leewaySeconds: 0,
}

/** What a token is checked with. */
export interface TokenCheck {
  /** The key of this gateway. */
  readonly key: SigningKey
  /** Keys of others; a token that is signed with one names it. */
  readonly keySet?: KeySet | undefined
  /** `openRules` by default. */
  readonly rules?: TokenRules | undefined
}

/** What a new token shall say. */
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

/** The most characters of a subject. */
export const maxSubjectLength = 256

/** A longer text is no token of any issuer, and costs no work. */
const maxTokenLength = 16_384

/** Makes a token. */
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

/** Checks a token at a moment (Unix milliseconds). A key is used with its own algorithm alone. */
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

/** Whether a subject can be kept and shown: printable text, for it stands in records and lists. */
export function isSubject(subject: unknown): subject is string {
  if (typeof subject !== 'string' || /[\p{C}\p{Zl}\p{Zp}]/u.test(subject)) return false
  const length = [...subject].length
  return length > 0 && length <= maxSubjectLength
}

interface KeyOfToken {
  readonly algorithm: string
  readonly key: KeyObject | CryptoKey
}

/** Where there is a key set, a token that names a key is signed by the issuer of the set, and others by this gateway. */
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
    // The header is no base64url of JSON; the library has no other way to say so.
    return undefined
  }
}

/** The library checks the claims about time, issuer and audience, and no others. */
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

/** The claim of rest.md 2.3 has an empty object as the value of what is permitted; `false` and `null` permit nothing. */
function hasWrite(payload: JWTPayload): boolean {
  // A payload has an index signature, and by it any claim is unknown.
  const { permissions }: Record<string, unknown> = payload
  if (typeof permissions !== 'object' || permissions === null) return false
  const write = Object.getOwnPropertyDescriptor(permissions, 'write')?.value
  return write === true || (typeof write === 'object' && write !== null)
}

function endOf({ exp, iat }: JWTPayload, rules: TokenRules): number | undefined {
  const { maxAgeSeconds, leewaySeconds } = rules
  const byAge = maxAgeSeconds === undefined || iat === undefined ? undefined : iat + maxAgeSeconds
  const ends = [exp, byAge].filter((end) => end !== undefined)
  // A date may have a fraction (RFC 7519 2); the notice to feeds has whole seconds.
  return ends.length === 0 ? undefined : Math.floor(Math.min(...ends)) + leewaySeconds
}

function tokenError(thrown: unknown, rules: TokenRules): TokenError | undefined {
  if (thrown instanceof errors.JWTExpired) {
    const expiredAt = endOf(thrown.payload, { ...rules, leewaySeconds: 0 }) ?? 0
    return Math.abs(expiredAt) > farthestSeconds
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

/** Of a moment from 1970 on that has a date (ECMAScript, 21.4.1.1). */
const farthestSeconds = 8_640_000_000_000
