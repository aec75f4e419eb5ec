import type { IncomingHttpHeaders } from 'node:http'
import type { HostNotAllowed, OriginNotAllowed } from './api-errors.ts'
import { isOfThisHost } from './auth.ts'

/** What an operator allows browsers and strangers. */

/** The policies of a gateway. */
export interface Policies {
  /** Besides the gateway's own, the origins of pages that may read answers and open WebSockets. */
  readonly origins: Allowed
  /** The names by which `Host` may call the gateway, in lower case and without a port. */
  readonly hosts: Allowed
  /** Whether `/graphql` shows GraphiQL to a browser. */
  readonly hasGraphiql: boolean
  /** Whether the schema can be asked for, and refusals suggest names of it. */
  readonly hasIntrospection: boolean
}

/** Some names, or all. */
export type Allowed = ReadonlySet<string> | 'all'

/** Nothing is kept from anybody. */
export const openPolicies: Policies = {
  origins: 'all',
  hosts: 'all',
  hasGraphiql: true,
  hasIntrospection: true,
}

/**
 * Why a request is not answered. A page that its owner has led to the address of this machine calls it by another name (DNS
 * rebinding). A browser lets any page open a WebSocket, and sends its origin.
 */
export function policyProblem(
  { origins, hosts }: Policies,
  headers: IncomingHttpHeaders,
  isUpgrade: boolean,
): HostNotAllowed | OriginNotAllowed | undefined {
  const { host = '', origin } = headers
  const name = host.replace(/:\d*$/, '').toLowerCase()
  if (!isAllowed(hosts, name)) return { code: 'HOST_NOT_ALLOWED', host: name }
  if (!isUpgrade || origin === undefined || isAllowed(origins, origin)) return undefined
  return isOfThisHost(headers) ? undefined : { code: 'ORIGIN_NOT_ALLOWED', origin }
}

/**
 * The headers by which a browser knows which pages may read an answer. None of them reads with cookies: there is no
 * `access-control-allow-credentials`, and a cookie with a request of a foreign page is ignored.
 */
export function originHeaders(
  { origins }: Policies,
  { origin }: IncomingHttpHeaders,
): Readonly<Record<string, string>> {
  if (origins === 'all') return readableBy('*')
  const vary = 'origin'
  return origin !== undefined && origins.has(origin) ? { ...readableBy(origin), vary } : { vary }
}

function readableBy(origin: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers':
      'etag, location, ratelimit, ratelimit-policy, retry-after, x-request-id',
  }
}

function isAllowed(allowed: Allowed, name: string): boolean {
  return allowed === 'all' || allowed.has(name)
}
