import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Clock, nowMs } from '../../lib/clock.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { AuthError } from '../errors/api-errors.ts'
import { isForm } from '../http/forms.ts'
import type { Revocations } from './revocations.ts'
import { type TokenCheck, type TokenClaims, verifyToken } from './token.ts'

/** The sender of a request. Its token is verified once, on first use. */
export interface Caller {
  /** Returns the identity of the holder of a valid token, whatever the token permits. */
  identify(): Promise<Result<Identity, AuthError>>
  /** Returns the identity of the token holder if the token may write chain records. */
  requireWrite(): Promise<Result<Identity, AuthError>>
  /** Whether the caller has a valid token that may submit blocks. */
  canSubmit(): Promise<boolean>
  /** The rights of the caller. Callers with equal rights share the events of a feed. */
  rights(): Promise<'read' | 'write'>
}

/** The holder of a valid token. */
export interface Identity {
  /** The `sub` claim of the token, or a fingerprint of the token if it has no `sub`. */
  readonly name: string
  /** Expiry of the token in Unix seconds; `undefined` if it does not expire. */
  readonly expiresAt: number | undefined
  /** Returns why the token is no longer valid; `undefined` while it is valid. */
  ended(): TokenEnded | undefined
  /** Whether the token has the `operator` scope. */
  readonly isOperator: boolean
}

/** Reasons why a formerly valid token is no longer valid. */
export type TokenEnded = Extract<AuthError, { code: 'TOKEN_EXPIRED' | 'TOKEN_REVOKED' }>

/** The headers that may carry a token: `Authorization`, with or without `Bearer`, or else the cookie `jwt`. */
export interface Credentials {
  readonly authorization?: string | undefined
  readonly cookie?: string | undefined
}

/**
 * Returns the credentials in the headers of any request, including WebSocket upgrades. A browser sends its cookie to any host
 * that a page names, with forms, with requests that have no body, and with a WebSocket, without a preflight request. So the
 * cookie counts only for a page of this host, and never with a form (docs/decisions/003).
 */
export function credentialsOf(headers: IncomingHttpHeaders): Credentials {
  const { authorization, cookie } = headers
  const isOurs = isOfThisHost(headers) && !isForm(headers['content-type'])
  return { authorization, cookie: isOurs ? cookie : undefined }
}

/**
 * Whether a request comes from a page of this host or from no page. Newer browsers send `Sec-Fetch-Site`: `same-origin`, or `none`
 * for an address that a person typed. Behind a proxy that names another host, only this header is right. Older browsers send the
 * `Origin` of the page; programs send neither header.
 */
export function isOfThisHost({ origin, host, ...headers }: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  return origin === undefined || origin === `http://${host}` || origin === `https://${host}`
}

export interface AuthDeps extends TokenCheck {
  readonly clock: Clock
  /** The revoked tokens; none by default. */
  readonly revocations?: Pick<Revocations, 'isRevoked' | 'changes'> | undefined
}

/** Creates the caller with these credentials, without verifying them yet. */
export function callerOf(deps: AuthDeps, credentials: Credentials): Caller {
  let known: Promise<Result<Holder, AuthError>> | undefined
  const holder = async () => {
    known ??= holderOf(deps, credentials)
    const found = await known
    // The caller of a WebSocket outlives its token, which may expire or be revoked.
    const ended = found.ok ? found.value.ended() : undefined
    return ended === undefined ? found : err(ended)
  }
  return {
    identify: holder,
    requireWrite: async () => {
      const found = await holder()
      if (!found.ok || found.value.canWrite) return found
      return err({ code: 'PERMISSION_MISSING', permission: 'write' })
    },
    canSubmit: async () => {
      const found = await holder()
      return found.ok && found.value.canSubmit
    },
    rights: async () => {
      const found = await holder()
      return found.ok && found.value.canWrite ? 'write' : 'read'
    },
  }
}

interface Holder extends Identity, Pick<TokenClaims, 'canWrite' | 'canSubmit'> {}

async function holderOf(
  deps: AuthDeps,
  credentials: Credentials,
): Promise<Result<Holder, AuthError>> {
  const token = tokenIn(credentials)
  if (token === undefined) return err({ code: 'TOKEN_MISSING' })
  const { clock, revocations } = deps
  const claims = await verifyToken(deps, token, nowMs(clock))
  if (!claims.ok) return claims
  const { subject, id, expiresAt, canWrite, canSubmit, isOperator } = claims.value
  const name = subject ?? fingerprint(signedPart(token))
  // A file of revocations may contain the fingerprint of the whole token, as former versions wrote it into records.
  const names = subject === undefined ? [name, fingerprint(token)] : [name]
  const ended = (): TokenEnded | undefined => {
    if (names.some((one) => revocations?.isRevoked({ id, name: one })))
      return { code: 'TOKEN_REVOKED' }
    const isOver = expiresAt !== undefined && expiresAt * 1_000 <= nowMs(clock)
    return isOver ? { code: 'TOKEN_EXPIRED', expiredAt: expiresAt } : undefined
  }
  return ok({ name, expiresAt, canWrite, canSubmit, isOperator, ended })
}

/** The header takes precedence over the cookie even when it holds no token, because a client sends it on purpose. */
function tokenIn({ authorization, cookie }: Credentials): string | undefined {
  const header = authorization?.trim() ?? ''
  const bare = header.replace(/^bearer(\s+|$)/i, '')
  if (header !== '') return bare === '' ? undefined : bare
  return jwtCookie(cookie ?? '')
}

function jwtCookie(cookies: string): string | undefined {
  for (const pair of cookies.split(';')) {
    const [name, ...value] = pair.trim().split('=')
    if (name === 'jwt') return value.join('=') || undefined
  }
  return undefined
}

/** Header and claims. The holder can rewrite only the signature: it has unused bits, may contain spaces, and ES256 has two per token. */
function signedPart(token: string): string {
  return token.slice(0, token.lastIndexOf('.'))
}

function fingerprint(text: string): string {
  return `token-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}
