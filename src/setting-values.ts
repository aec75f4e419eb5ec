import { BlockList, isIP } from 'node:net'
import { basename, dirname, extname, join } from 'node:path'
import type { TrustedProxies } from './api/client-address.ts'
import type { KeySetSource } from './api/key-set.ts'
import { databaseAddress } from './store/url.ts'

/** The values of settings: each function gives what a text means, `undefined` where it means nothing. Pure. */

/** A port; 0 means any free one. */
export function parsePort(text: string): number | undefined {
  if (!/^[0-9]{1,5}$/.test(text)) return undefined
  const port = Number(text)
  return port <= 65_535 ? port : undefined
}

/** A whole number of at most nine digits. */
export function parseCount(text: string): number | undefined {
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : undefined
}

/** How many milestones or slots are kept. */
export function parseRetention(text: string): number | 'all' | undefined {
  if (text === 'all') return text
  const milestones = parseCount(text)
  return milestones !== undefined && milestones > 0 ? milestones : undefined
}

/** Seconds, at most a minute. */
export function parseDrain(text: string): number | undefined {
  const seconds = parseCount(text)
  return seconds !== undefined && seconds <= 60 ? seconds : undefined
}

/** On or off; a flag that takes no value has the value `true`. */
export function parseSwitch(text: string): boolean | undefined {
  if (text === 'on' || text === 'true') return true
  return text === 'off' ? false : undefined
}

/** Seconds by which clocks may differ. */
export function parseLeeway(text: string): number | undefined {
  const seconds = parseCount(text)
  return seconds !== undefined && seconds <= 300 ? seconds : undefined
}

/** Like `30m`: in seconds, from 1. Five digits of days are more than a token should live, and still a date. */
export function parseDuration(text: string): number | undefined {
  const [, count = '', unit = ''] = /^([1-9][0-9]{0,4})([smhd])$/.exec(text) ?? []
  const seconds = secondsByUnit.get(unit)
  return seconds === undefined ? undefined : Number(count) * seconds
}

const secondsByUnit = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3_600],
  ['d', 86_400],
])

/** Names with commas between, in lower case; `*` means all. */
export function parseNames(text: string): ReadonlySet<string> | 'all' | undefined {
  if (text === '*') return 'all'
  const names = text.split(',').map((name) => name.trim().toLowerCase())
  return names.every((name) => /^([a-z0-9._-]+|\[[0-9a-f:]+\])$/.test(name))
    ? new Set(names)
    : undefined
}

/** Origins with commas between, as browsers write them; `*` means all. */
export function parseOrigins(text: string): ReadonlySet<string> | 'all' | undefined {
  if (text === '*') return 'all'
  const origins = text.split(',').map((origin) => origin.trim())
  const isOrigin = (one: string) => /^https?:/.test(one) && URL.parse(one)?.origin === one
  return origins.every(isOrigin) ? new Set(origins) : undefined
}

/** How many proxies there are, or their networks with commas between. */
export function parseProxies(text: string): TrustedProxies | undefined {
  if (/^[0-9]$/.test(text)) {
    return text === '0' ? { kind: 'none' } : { kind: 'count', count: Number(text) }
  }
  const networks = new BlockList()
  for (const one of text.split(',')) {
    const [address = '', bits] = one.trim().split('/')
    const family = isIP(address)
    const most = family === 4 ? 32 : 128
    if (family === 0 || !/^[0-9]{1,3}$/.test(bits ?? '0') || Number(bits ?? 0) > most) {
      return undefined
    }
    networks.addSubnet(address, Number(bits ?? most), family === 4 ? 'ipv4' : 'ipv6')
  }
  return { kind: 'networks', networks }
}

/** One of some words. */
export function oneOf<T extends string>(allowed: readonly T[]): (text: string) => T | undefined {
  return (text) => allowed.find((value) => value === text)
}

/** Whether a text is the address of a node: it may have a path, but neither user nor query. */
export function isNodeUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) return false
  return [url.username, url.password, url.search, url.hash].every((part) => part === '')
}

/** Where a key set is. Keys that came without TLS could be anybody's, except from this machine. */
export function parseKeySetSource(text: string): KeySetSource | undefined {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { kind: 'file', path: text }
  const { protocol, hostname, username, password } = URL.parse(text) ?? {}
  const isLocal = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname ?? '')
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLocal)
  return isSafe && username === '' && password === '' ? { kind: 'url', url: text } : undefined
}

/** `./data/ledger-gateway.key` for `file:./data/ledger-gateway.db`, and for a database that is no file. */
export function keyFileBeside(databaseUrl: string): string {
  const address = databaseAddress(databaseUrl)
  const path = address?.kind === 'sqlite' ? address.path : './data/ledger-gateway.db'
  return join(dirname(path), `${basename(path, extname(path))}.key`)
}
