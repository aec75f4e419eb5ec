import { resolve } from 'node:path'

/** URLs of databases. */

/** The supported form of a PostgreSQL URL, for messages. */
export const postgresqlUrlForm =
  'postgresql://USER:PASSWORD@HOST:PORT/DATABASE (with ?options=-csearch_path=NAME instead of ?schema=NAME)'

/** The supported forms of a database URL, for messages. */
export const databaseUrlForms = `file:PATH or ${postgresqlUrlForm}`

/** A parsed URL: the path of a file, or the whole URL of a server. */
export type DatabaseAddress =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgresql'; readonly url: string }

/** Parses a URL; `undefined` if it has none of the supported forms. */
export function databaseAddress(url: string): DatabaseAddress | undefined {
  // A name after two slashes is a host (RFC 8089), and no folder of the root.
  const [, path] = /^file:(?!\/\/[^/])([^?]+)$/.exec(url) ?? []
  if (path !== undefined && path !== ':memory:') return { kind: 'sqlite', path }
  return isPostgresqlUrl(url) ? { kind: 'postgresql', url } : undefined
}

/** Formats the place of a database for messages: the absolute path of a file, or host and database name, without user and password. */
export function databaseLocation(url: string): string {
  const address = databaseAddress(url)
  if (address?.kind === 'sqlite') return resolve(address.path)
  const parts = hostUrlsOf(url).map((one) => new URL(one))
  return `${parts.map(({ host }) => host).join()}${parts[0]?.pathname}`
}

/** Whether a URL names a PostgreSQL database, with at least a host and a database name. */
export function isPostgresqlUrl(url: string): boolean {
  if (!/^postgres(ql)?:\/\//.test(url)) return false
  // The driver ignores this parameter of Prisma's own URLs, and the tables would be in another schema.
  if (/[?&]schema=(?!public(&|$))/.test(url)) return false
  const isOne = (one: string) => {
    if (!URL.canParse(one)) return false
    const { hostname, pathname } = new URL(one)
    return hostname !== '' && pathname.length > 1
  }
  return hostUrlsOf(url).every(isOne) && targetSessions.some((one) => one === attributesIn(url))
}

/** Splits a PostgreSQL URL with hosts `HOST:PORT,HOST:PORT` into one URL per host, without `target_session_attrs`. */
export function hostUrlsOf(url: string): readonly string[] {
  const [, before = '', hosts = '', after = ''] =
    /^(\w+:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/.exec(url) ?? []
  const rest = after.replace(/([?&])target_session_attrs=[^&]*&?/, '$1').replace(/[?&]$/, '')
  return hosts.split(',').map((host) => `${before}${host}${rest}`)
}

/** The kind of host to connect to. */
export type TargetSession = (typeof targetSessions)[number]

const targetSessions = [
  'any',
  'read-write',
  'read-only',
  'primary',
  'standby',
  'prefer-standby',
] as const

/** Returns the kind of host that a URL requires; `any` by default. */
export function sessionAttributesOf(url: string): TargetSession {
  return targetSessions.find((one) => one === attributesIn(url)) ?? 'any'
}

function attributesIn(url: string): string {
  return /[?&]target_session_attrs=([^&]*)/.exec(url)?.[1] ?? 'any'
}
