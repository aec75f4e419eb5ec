import { BlockList, isIP } from 'node:net'
import type { TrustedProxies } from './api/client-address.ts'
import type { KeySetSource } from './api/key-set.ts'
import type { Allowed } from './api/policies.ts'
import { createSecret, type Secret } from './lib/secret.ts'
import { databaseAddress, databaseUrlForms, isPostgresqlUrl } from './store/url.ts'

/** The types of the values of settings: what their texts mean, and what they are in a settings file. Pure. */

/** A type of values. */
export interface ValueType<T> {
  /** The placeholder of a value in the help; empty where the flag alone means `on`. */
  readonly value: string
  /** What a value must be, as messages say it. */
  readonly expected: string
  /** All that a value may be, where that is a list of words. */
  readonly choices?: readonly string[]
  /** A value in a settings file. */
  readonly json: ValueSchema
  /** Whether messages do not repeat a value that they refuse: it may hold a password. */
  readonly isQuiet?: boolean
  /** Only secrets have it: gives a value without what must not be shown. */
  readonly mask?: (text: string) => string
  /** `undefined` for a text that means nothing. */
  parse(text: string): T | undefined
}

/** A type of values that must not be shown. */
export interface SecretType<T> extends ValueType<T> {
  readonly mask: (text: string) => string
}

/** The JSON Schema of a value. */
export interface ValueSchema {
  readonly type: JsonType | readonly JsonType[]
  readonly [keyword: string]: unknown
}

/** The types of JSON that a value may have in a settings file. */
export type JsonType = 'string' | 'integer' | 'boolean' | 'array'

/** Any text but none. */
export const words = (value: string, expected = 'a text that is not empty'): ValueType<string> => ({
  value,
  expected,
  json: { type: 'string', minLength: 1 },
  parse: (text) => (text === '' ? undefined : text),
})

/** A whole number; by default of at most nine digits. */
export function whole(
  value: string,
  { least = 0, most = largest }: { readonly least?: number; readonly most?: number } = {},
): ValueType<number> {
  const end = most === largest ? '' : ` to ${most}`
  const parse = (text: string) => {
    const count = /^[0-9]{1,9}$/.test(text) ? Number(text) : -1
    return count >= least && count <= most ? count : undefined
  }
  const json = { type: 'integer', minimum: least, maximum: most } as const
  return { value, expected: `a whole number from ${least}${end}`, json, parse }
}

const largest = 999_999_999

/** One of some words. */
export const oneOf = <const T extends string>(
  value: string,
  allowed: readonly T[],
): ValueType<T> => ({
  value,
  expected: allowed.join(', '),
  choices: allowed,
  json: { type: 'string', enum: allowed },
  parse: (text) => allowed.find((one) => one === text),
})

/** On or off. */
export const onOrOff: ValueType<boolean> = {
  value: 'SWITCH',
  expected: 'on, off',
  choices: ['on', 'off'],
  json: { type: 'boolean' },
  parse: (text) => (text === 'on' ? true : text === 'off' ? false : undefined),
}

/** On or off; the flag alone, whose value is `true`, means on. */
export const bareSwitch: ValueType<boolean> = {
  ...onOrOff,
  value: '',
  parse: (text) => (text === 'true' ? true : onOrOff.parse(text)),
}

/** How many milestones or slots are kept. */
export const retention = (value: string): ValueType<number | 'all'> => ({
  value,
  expected: 'all, or a whole number from 1',
  json: { type: ['integer', 'string'], minimum: 1, maximum: largest, pattern: '^all$' },
  parse: (text) => (text === 'all' ? text : whole('', { least: 1 }).parse(text)),
})

/** Like `30m`: in seconds, from 1. */
export const duration: ValueType<number> = {
  value: 'TIME',
  expected: 'like 30m, 12h or 1d',
  json: { type: 'string', pattern: '^[1-9][0-9]{0,4}[smhd]$' },
  parse: parseDuration,
}

/** The seconds of a text like `30m`. Five digits of days are more than a token should live, and still a date. */
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

/** A list: with commas between in a text, and an array or such a text in a file. */
const list = {
  type: ['array', 'string'],
  items: { type: 'string', pattern: '^[^,]+$' },
  minItems: 1,
  minLength: 1,
} as const

const itemsOf = (text: string) => text.split(',').map((item) => item.trim())

/** Names of hosts in lower case; `*` means all. */
export const hostNames: ValueType<Allowed> = {
  value: 'NAMES',
  expected: '*, or names with commas between',
  json: list,
  parse: (text) => {
    const names = itemsOf(text.toLowerCase())
    if (text === '*') return 'all'
    const isName = (name: string) => /^([a-z0-9._-]+|\[[0-9a-f:]+\])$/.test(name)
    return names.every(isName) ? new Set(names) : undefined
  },
}

/** Origins, as browsers write them; `*` means all. */
export const origins: ValueType<Allowed> = {
  value: 'ORIGINS',
  expected: '*, or origins such as https://explorer.example with commas between',
  json: list,
  parse: (text) => {
    if (text === '*') return 'all'
    const isOrigin = (one: string) => /^https?:/.test(one) && URL.parse(one)?.origin === one
    return itemsOf(text).every(isOrigin) ? new Set(itemsOf(text)) : undefined
  },
}

/** How many proxies there are, or their networks. */
export const proxies: ValueType<TrustedProxies> = {
  value: 'PROXIES',
  expected: 'a number from 0 to 9, or networks such as 10.0.0.0/8 with commas between',
  json: { ...list, type: ['integer', ...list.type], minimum: 0, maximum: 9 },
  parse: (text) => {
    if (text === '0') return { kind: 'none' }
    return /^[0-9]$/.test(text) ? { kind: 'count', count: Number(text) } : networksOf(text)
  },
}

function networksOf(text: string): TrustedProxies | undefined {
  const networks = new BlockList()
  for (const one of itemsOf(text)) {
    const [address = '', bits] = one.split('/')
    const family = isIP(address)
    const most = family === 4 ? 32 : 128
    if (family === 0 || !/^[0-9]{1,3}$/.test(bits ?? '0') || Number(bits ?? 0) > most) {
      return undefined
    }
    networks.addSubnet(address, Number(bits ?? most), family === 4 ? 'ipv4' : 'ipv6')
  }
  return { kind: 'networks', networks }
}

/** Addresses of nodes, without a slash at their ends. */
export const nodeUrls: ValueType<readonly string[]> = {
  value: 'URLS',
  expected: 'addresses http(s)://HOST[:PORT][/PATH] with commas between, without user and password',
  json: list,
  isQuiet: true,
  parse: (text) => {
    const urls = itemsOf(text).map((one) => one.replace(/\/+$/, ''))
    return urls.every(isNodeUrl) ? urls : undefined
  },
}

/** The address of a node, without a slash at its end, or the path of a file. */
export const nodeUrlOrFile: ValueType<string> = {
  ...words('URL', 'http(s)://HOST[:PORT][/PATH] without user and password, or the path of a file'),
  isQuiet: true,
  parse: (text) => {
    const place = text.replace(/\/+$/, '')
    const isFile = place !== '' && !/^[a-z]+:\/\//i.test(text)
    return isFile || isNodeUrl(place) ? place : undefined
  },
}

/** Whether a text is the address of a node: it may have a path, but neither user nor query. */
export function isNodeUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) return false
  return [url.username, url.password, url.search, url.hash].every((part) => part === '')
}

/** Where a key set is. Keys that came without TLS could be anybody's, except from this machine. */
export const keySetSource: ValueType<KeySetSource> = {
  ...words('PLACE', 'a file, or https://HOST/PATH (http for this machine alone)'),
  isQuiet: true,
  parse: (text) => {
    if (text === '') return undefined
    if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { kind: 'file', path: text }
    const { protocol, hostname, username, password } = URL.parse(text) ?? {}
    const isLocal = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname ?? '')
    const isSafe = protocol === 'https:' || (protocol === 'http:' && isLocal)
    return isSafe && username === '' && password === '' ? { kind: 'url', url: text } : undefined
  },
}

const hexOf32Bytes = /^0x[0-9a-fA-F]{64}$/

/** An account id, in lower case. */
export const accountId: ValueType<string> = {
  ...words('ID', '0x and the 64 hexadecimal digits of an account id'),
  json: { type: 'string', pattern: hexOf32Bytes.source },
  parse: (text) => (hexOf32Bytes.test(text) ? text.toLowerCase() : undefined),
}

const secret = (value: string, expected: string, isValid: (text: string) => boolean) => ({
  ...words(value, expected),
  mask: () => '[secret]',
  parse: (text: string): Secret | undefined => (isValid(text) ? createSecret(text) : undefined),
})

/** A database. */
export const databaseUrl: SecretType<Secret> = {
  ...secret('URL', databaseUrlForms, (text) => databaseAddress(text) !== undefined),
  mask: maskUrl,
}

/** A database on a server. */
export const postgresqlUrl: SecretType<Secret> = {
  ...secret('URL', 'postgresql://USER:PASSWORD@HOST:PORT/DATABASE', isPostgresqlUrl),
  mask: maskUrl,
}

/** Databases on servers. The hosts of one URL have commas between, too. */
export const postgresqlUrls: SecretType<readonly Secret[]> = {
  ...words('URLS', 'postgresql://USER:PASSWORD@HOST:PORT/DATABASE, several with commas between'),
  mask: (text) => urlsOf(text).map(maskUrl).join(','),
  parse: (text) => (urlsOf(text).every(isOneUrl) ? urlsOf(text).map(createSecret) : undefined),
}

/** A comma behind the hosts begins something that is no URL. */
const isOneUrl = (text: string) => isPostgresqlUrl(text) && /^\w+:\/\/[^/]+\/[^,]+$/.test(text)

const urlsOf = (text: string) => text.split(/\s*,\s*(?=postgres(?:ql)?:)/)

/** Password and query are left out: both may hold a password. */
function maskUrl(text: string): string {
  if (databaseAddress(text)?.kind === 'sqlite') return text
  // More than the password is hidden where one has signs in it that a URL would have as percents.
  const withoutPassword = text.replace(/^(\w+:\/\/[^:@/?]*):.*@/, '$1:[secret]@')
  return withoutPassword.replace(/\?.*$/, '?[secret]')
}

/** A secret that is shared with others. */
export const sharedSecret = (leastBytes: number): SecretType<Secret> =>
  secret(
    'TEXT',
    `at least ${leastBytes} bytes long`,
    (text) => Buffer.byteLength(text) >= leastBytes,
  )

/** An Ed25519 secret, or none. */
export const ed25519Secret: SecretType<Secret | 'none'> = {
  ...secret('HEX', 'none, or 0x and the 64 hexadecimal digits of an Ed25519 secret', () => false),
  parse: (text) => {
    if (text === 'none') return text
    return hexOf32Bytes.test(text) ? createSecret(text.toLowerCase()) : undefined
  },
}
