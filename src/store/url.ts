import { resolve } from 'node:path'

/** Which URLs name a database. */

/** What the URL of a database looks like, for messages. */
export const databaseUrlForms = 'file:PATH or postgresql://USER:PASSWORD@HOST:PORT/DATABASE'

/** A URL as far as it is understood: the path of a file, or all of it for a server. */
export type DatabaseAddress =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgresql'; readonly url: string }

/** What a URL names; `undefined` where it has none of the forms. */
export function databaseAddress(url: string): DatabaseAddress | undefined {
  const [, path] = /^file:([^?]+)$/.exec(url) ?? []
  if (path !== undefined && path !== ':memory:') return { kind: 'sqlite', path }
  return isPostgresqlUrl(url) ? { kind: 'postgresql', url } : undefined
}

/** Where a database is, for people: the whole path of a file, or server and name, without user and password. */
export function databasePlace(url: string): string {
  const address = databaseAddress(url)
  if (address?.kind === 'sqlite') return resolve(address.path)
  const parts = hostUrlsOf(url).map((one) => new URL(one))
  return `${parts.map(({ host }) => host).join()}${parts[0]?.pathname}`
}

/** Whether a URL names a PostgreSQL database: a host and a database, at least. */
export function isPostgresqlUrl(url: string): boolean {
  if (!/^postgres(ql)?:\/\//.test(url)) return false
  const isOne = (one: string) => {
    if (!URL.canParse(one)) return false
    const { hostname, pathname } = new URL(one)
    return hostname !== '' && pathname.length > 1
  }
  return hostUrlsOf(url).every(isOne) && targetSessions.some((one) => one === attributesIn(url))
}

/** The URL of each host of a PostgreSQL URL, `HOST:PORT,HOST:PORT`, without what is for all of them. */
export function hostUrlsOf(url: string): readonly string[] {
  const [, before = '', hosts = '', after = ''] =
    /^(\w+:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/.exec(url) ?? []
  const rest = after.replace(/([?&])target_session_attrs=[^&]*&?/, '$1').replace(/[?&]$/, '')
  return hosts.split(',').map((host) => `${before}${host}${rest}`)
}

/** Which of the hosts will do. */
export type TargetSession = (typeof targetSessions)[number]

const targetSessions = [
  'any',
  'read-write',
  'read-only',
  'primary',
  'standby',
  'prefer-standby',
] as const

/** Which hosts of a URL will do; any, where it does not say. */
export function sessionAttributesOf(url: string): TargetSession {
  return targetSessions.find((one) => one === attributesIn(url)) ?? 'any'
}

function attributesIn(url: string): string {
  return /[?&]target_session_attrs=([^&]*)/.exec(url)?.[1] ?? 'any'
}
