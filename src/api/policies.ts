import type { IncomingHttpHeaders } from 'node:http'
import type { HostNotAllowed, OriginNotAllowed } from './errors/api-errors.ts'
import { isOfThisHost } from './tokens/auth.ts'

/** The policies of the operator for browsers and unknown clients. */

export interface Policies {
  /** The origins, besides the gateway's own, whose pages may read responses and open WebSockets. */
  readonly origins: Allowed
  /** The allowed values of the `Host` header, in lower case and without a port. */
  readonly hosts: Allowed
  /** Whether `/graphql` shows GraphiQL to a browser. */
  readonly hasGraphiql: boolean
  /** Whether introspection is allowed, and whether errors suggest names of the schema. */
  readonly hasIntrospection: boolean
}

export type Allowed = ReadonlySet<string> | 'all'

/** The policies without any restriction. */
export const openPolicies: Policies = {
  origins: 'all',
  hosts: 'all',
  hasGraphiql: true,
  hasIntrospection: true,
}

/**
 * Returns why a request is refused. The host check protects from DNS rebinding: the owner of a page points its name at the
 * address of this machine, and the page then requests that name. The origin check protects WebSockets, which a browser lets
 * any page open and for which it sends the origin of the page.
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
 * Returns the headers that tell a browser which pages may read a response. None of them may read with cookies: the headers
 * never contain `access-control-allow-credentials`, and the gateway ignores a cookie in a request of a foreign page.
 */
export function originHeaders(
  { origins }: Policies,
  { origin }: IncomingHttpHeaders,
): Readonly<Record<string, string>> {
  if (origins === 'all') return readableBy('*')
  const vary = 'origin'
  return origin !== undefined && origins.has(origin) ? { ...readableBy(origin), vary } : { vary }
}

/** The response headers that programs of pages may read, besides those that every page may: all that the OpenAPI document declares. */
const readableHeaders =
  'content-disposition, etag, location, ratelimit, ratelimit-policy, retry-after, x-kept-from-milestone, x-request-id, x-snapshot-slot'

function readableBy(origin: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': readableHeaders,
  }
}

function isAllowed(allowed: Allowed, name: string): boolean {
  return allowed === 'all' || allowed.has(name)
}
