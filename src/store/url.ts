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
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

/** Whether a URL names a PostgreSQL database: a host and a database, at least. */
export function isPostgresqlUrl(url: string): boolean {
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) return false
  const { hostname, pathname } = new URL(url)
  return hostname !== '' && pathname.length > 1
}
