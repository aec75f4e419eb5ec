import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Clock, nowMs } from '../lib/clock.ts'
import { err, ok, type Result } from '../lib/result.ts'
import type { AuthError } from './api-errors.ts'
import { isForm } from './forms.ts'
import type { Revocations } from './revocations.ts'
import { type TokenCheck, type TokenClaims, verifyToken } from './token.ts'

/** The sender of a request. The token is verified once, when something first needs it. */
export interface Caller {
  /** The holder of any valid token. */
  identify(): Promise<Result<Identity, AuthError>>
  /** The same, where the token may write chain records. */
  requireWrite(): Promise<Result<Identity, AuthError>>
  /** Whether it is the holder of a token that may submit blocks. */
  canSubmit(): Promise<boolean>
  /** What the caller may do; callers with equal rights share the events of a feed. */
  rights(): Promise<'read' | 'write'>
}

/** The holder of a valid token. */
export interface Identity {
  /** The token's `sub`, or its fingerprint where it has none. */
  readonly name: string
  /** The end of the token's validity in Unix seconds; `undefined` for one without end. */
  readonly expiresAt: number | undefined
  /** Why the token counts no more; `undefined` as long as it does. */
  ended(): TokenEnded | undefined
  /** Whether the token is one of the operator. */
  readonly isOperator: boolean
}

/** A token that was valid, and is so no more. */
export type TokenEnded = Extract<AuthError, { code: 'TOKEN_EXPIRED' | 'TOKEN_REVOKED' }>

/** Where a token may be: in `Authorization`, bare or after `Bearer`, or else in the cookie `jwt`. */
export interface Credentials {
  readonly authorization?: string | undefined
  readonly cookie?: string | undefined
}

/**
 * What the head of a request says of its sender; all requests pass here, those to become a WebSocket too. A browser sends its
 * cookie to any host that a page names, with forms, with requests that have no body, and with a WebSocket, without asking
 * first. So the cookie counts only for a page of this host, and never with a form (docs/decisions/003).
 */
export function credentialsOf(headers: IncomingHttpHeaders): Credentials {
  const { authorization, cookie } = headers
  const isOurs = isOfThisHost(headers) && !isForm(headers['content-type'])
  return { authorization, cookie: isOurs ? cookie : undefined }
}

/**
 * Newer browsers say which page a request comes from: of the same origin, or of none, as what a person types. Behind a proxy
 * that names another host this is the only word that is right. Others name the page's origin; programs do neither.
 */
export function isOfThisHost({ origin, host, ...headers }: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  return origin === undefined || origin === `http://${host}` || origin === `https://${host}`
}

/** What the check of a token needs. */
export interface AuthDeps extends TokenCheck {
  readonly clock: Clock
  /** None by default. */
  readonly revocations?: Pick<Revocations, 'isRevoked' | 'changes'> | undefined
}

/** The caller with these credentials. Nothing is verified before it is needed. */
export function callerOf(deps: AuthDeps, credentials: Credentials): Caller {
  let known: Promise<Result<Holder, AuthError>> | undefined
  const holder = async () => {
    known ??= holderOf(deps, credentials)
    const found = await known
    // The caller of a WebSocket stays while its token expires or is revoked.
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
  const name = subject ?? fingerprint(token)
  const ended = (): TokenEnded | undefined => {
    if (revocations?.isRevoked({ id, name })) return { code: 'TOKEN_REVOKED' }
    const isOver = expiresAt !== undefined && expiresAt * 1_000 <= nowMs(clock)
    return isOver ? { code: 'TOKEN_EXPIRED', expiredAt: expiresAt } : undefined
  }
  return ok({ name, expiresAt, canWrite, canSubmit, isOperator, ended })
}

/** The header wins over the cookie, even when it holds no token: what was sent on purpose is what is judged. */
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

function fingerprint(token: string): string {
  return `token-${createHash('sha256').update(token).digest('hex').slice(0, 16)}`
}
