import { BlockList, isIP } from 'node:net'
import type { TrustedProxies } from './api/clients/client-address.ts'
import type { Allowed } from './api/policies.ts'
import type { KeySetSource } from './api/tokens/key-set.ts'
import { alternatives } from './lib/alternatives.ts'
import { createSecret, type Secret } from './lib/secret.ts'
import {
  databaseAddress,
  databaseUrlForms,
  isPostgresqlUrl,
  postgresqlUrlForm,
} from './store/url.ts'

/** Value types of settings: how a text is parsed, and how the value is written in a settings file. Pure. */

export interface ValueType<T> {
  /** Placeholder of the value in the help; empty if the flag alone means `on`. */
  readonly value: string
  /** Description of a valid value, for messages. */
  readonly expected: string
  /** The allowed values, if the type has a closed list of them. */
  readonly choices?: readonly string[]
  /** Schema of the value in a settings file. */
  readonly json: ValueSchema
  /** Whether messages do not repeat a refused value, because it may contain a password. */
  readonly isQuiet?: boolean
  /** Only for secrets: returns a text that is safe to show. */
  readonly mask?: (text: string) => string
  /** Returns the value; `undefined` for an invalid text. */
  parse(text: string): T | undefined
}

/** The type of a value that must not be shown. */
export interface SecretType<T> extends ValueType<T> {
  readonly mask: (text: string) => string
}

export interface ValueSchema {
  readonly type: JsonType | readonly JsonType[]
  /** Schema of the items of an array. */
  readonly items?: { readonly type: 'string'; readonly pattern: string }
  readonly [keyword: string]: unknown
}

/** The JSON types that a value may have in a settings file. */
export type JsonType = 'string' | 'integer' | 'boolean' | 'array'

export const nonEmpty = (
  value: string,
  expected = 'a text that is not empty',
): ValueType<string> => ({
  value,
  expected,
  json: { type: 'string', minLength: 1 },
  parse: (text) => (text === '' ? undefined : text),
})

/** A whole number; by default of at most nine digits. */
export function integer(
  value: string,
  { min = 0, max = largest }: { readonly min?: number; readonly max?: number } = {},
): ValueType<number> {
  const end = max === largest ? '' : ` to ${max}`
  const parse = (text: string) => {
    const count = /^[0-9]{1,9}$/.test(text) ? Number(text) : -1
    return count >= min && count <= max ? count : undefined
  }
  const json = { type: 'integer', minimum: min, maximum: max } as const
  return { value, expected: `a whole number from ${min}${end}`, json, parse }
}

const largest = 999_999_999

/** One of several words. */
export const oneOf = <const T extends string>(
  value: string,
  allowed: readonly T[],
): ValueType<T> => ({
  value,
  expected: alternatives(allowed),
  choices: allowed,
  json: { type: 'string', enum: allowed },
  parse: (text) => allowed.find((one) => one === text),
})

export const onOrOff: ValueType<boolean> = {
  value: 'SWITCH',
  expected: 'on or off',
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

/** Number of milestones or slots that are kept, or `all`. */
export const retention = (value: string): ValueType<number | 'all'> => ({
  value,
  expected: 'all, or a whole number from 1',
  json: { type: ['integer', 'string'], minimum: 1, maximum: largest, pattern: '^all$' },
  parse: (text) => (text === 'all' ? text : integer('', { min: 1 }).parse(text)),
})

/** A duration such as `30m`, parsed to seconds; at least 1. */
export const duration: ValueType<number> = {
  value: 'TIME',
  expected: 'a duration such as 30m, 12h or 1d, of at most five digits',
  json: { type: 'string', pattern: '^[1-9][0-9]{0,4}[smhd]$' },
  parse: parseDuration,
}

/** Seconds of a duration such as `30m`. Five digits of days are more than any token should live, but still result in a valid date. */
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

/** A list: a text separated by commas; in a settings file also an array. */
const list = {
  type: ['array', 'string'],
  items: { type: 'string', pattern: '^[^,]+$' },
  minItems: 1,
  minLength: 1,
} as const

const itemsOf = (text: string) => text.split(',').map((item) => item.trim())

/** Host names in lower case; `*` means all. */
export const hostNames: ValueType<Allowed> = {
  value: 'NAMES',
  expected: '*, or host names separated by commas',
  json: list,
  parse: (text) => {
    const names = itemsOf(text.toLowerCase())
    if (text === '*') return 'all'
    const isName = (name: string) => /^([a-z0-9._-]+|\[[0-9a-f:]+\])$/.test(name)
    return names.every(isName) ? new Set(names) : undefined
  },
}

/** Origins as browsers send them; `*` means all. */
export const origins: ValueType<Allowed> = {
  value: 'ORIGINS',
  expected: '*, or origins such as https://explorer.example, separated by commas',
  json: list,
  parse: (text) => {
    if (text === '*') return 'all'
    const isOrigin = (one: string) => /^https?:/.test(one) && URL.parse(one)?.origin === one
    return itemsOf(text).every(isOrigin) ? new Set(itemsOf(text)) : undefined
  },
}

/** Number of proxies in front of the gateway, or their networks. */
export const proxies: ValueType<TrustedProxies> = {
  value: 'PROXIES',
  expected: 'a number from 0 to 9, or networks such as 10.0.0.0/8, separated by commas',
  json: { ...list, type: ['integer', ...list.type], minimum: 0, maximum: 9 },
  parse: (text) => {
    if (text === '0') return { kind: 'none' }
    return /^[0-9]$/.test(text) ? { kind: 'count', count: Number(text) } : networksOf(text)
  },
}

function networksOf(text: string): TrustedProxies | undefined {
  const networks = new BlockList()
  for (const one of itemsOf(text)) {
    const [address = '', bits, ...rest] = one.split('/')
    const family = isIP(address)
    const maxBits = family === 4 ? 32 : 128
    const isPrefix = /^[0-9]{1,3}$/.test(bits ?? '0') && Number(bits ?? 0) <= maxBits
    if (family === 0 || !isPrefix || rest.length > 0) return undefined
    networks.addSubnet(address, Number(bits ?? maxBits), family === 4 ? 'ipv4' : 'ipv6')
  }
  return { kind: 'networks', networks }
}

/** URLs of nodes, without trailing slashes. */
export const nodeUrls: ValueType<readonly string[]> = {
  value: 'URLS',
  expected: 'URLs http(s)://HOST[:PORT][/PATH] separated by commas, without user and password',
  json: list,
  isQuiet: true,
  parse: (text) => {
    const urls = itemsOf(text).map((one) => one.replace(/\/+$/, ''))
    return urls.every(isNodeUrl) ? urls : undefined
  },
}

/** The URL of a node, without a trailing slash, or the path of a file. */
export const nodeUrlOrFile: ValueType<string> = {
  ...nonEmpty(
    'URL',
    'http(s)://HOST[:PORT][/PATH] without user and password, or the path of a file',
  ),
  isQuiet: true,
  parse: (text) => {
    const place = text.replace(/\/+$/, '')
    const isFile = place !== '' && !/^[a-z]+:\/\//i.test(text)
    return isFile || isNodeUrl(place) ? place : undefined
  },
}

/** Whether a text is the URL of a node: it may have a path, but no user and no query. */
export function isNodeUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) return false
  return [url.username, url.password, url.search, url.hash].every((part) => part === '')
}

/** Location of a key set. Without TLS an attacker could replace the keys, so http is accepted only for this machine. */
export const keySetSource: ValueType<KeySetSource> = {
  ...nonEmpty('PLACE', 'a file, or https://HOST/PATH (http for this machine only)'),
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
  ...nonEmpty('ID', '0x and the 64 hexadecimal digits of an account id'),
  json: { type: 'string', pattern: hexOf32Bytes.source },
  parse: (text) => (hexOf32Bytes.test(text) ? text.toLowerCase() : undefined),
}

const secret = (value: string, expected: string, isValid: (text: string) => boolean) => ({
  ...nonEmpty(value, expected),
  mask: () => '[secret]',
  parse: (text: string): Secret | undefined => (isValid(text) ? createSecret(text) : undefined),
})

export const databaseUrl: SecretType<Secret> = {
  ...secret('URL', databaseUrlForms, (text) => databaseAddress(text) !== undefined),
  mask: maskUrl,
}

export const postgresqlUrl: SecretType<Secret> = {
  ...secret('URL', postgresqlUrlForm, isPostgresqlUrl),
  mask: maskUrl,
}

/** URLs of PostgreSQL databases, separated by commas. Commas also separate the hosts of one URL. */
export const postgresqlUrls: SecretType<readonly Secret[]> = {
  ...nonEmpty('URLS', `${postgresqlUrlForm}, several separated by commas`),
  json: { ...list, items: { type: 'string', pattern: '^postgres(ql)?://' } },
  mask: (text) => urlsOf(text).map(maskUrl).join(','),
  parse: (text) => (urlsOf(text).every(isOneUrl) ? urlsOf(text).map(createSecret) : undefined),
}

/** A comma after the hosts starts a text that is not a URL. */
const isOneUrl = (text: string) => isPostgresqlUrl(text) && /^\w+:\/\/[^/]+\/[^,]+$/.test(text)

const urlsOf = (text: string) => text.split(/\s*,\s*(?=postgres(?:ql)?:)/)

/** Removes the password and the query, which may both contain a password. */
function maskUrl(text: string): string {
  if (databaseAddress(text)?.kind === 'sqlite') return text
  // If the password contains characters that a URL must percent-encode, more than the password is hidden.
  const withoutPassword = text.replace(/^(\w+:\/\/[^:@/?]*):.*@/, '$1:[secret]@')
  return withoutPassword.replace(/\?.*$/, '?[secret]')
}

/** A secret that several parties share. */
export const sharedSecret = (minBytes: number): SecretType<Secret> =>
  secret('TEXT', `at least ${minBytes} bytes long`, (text) => Buffer.byteLength(text) >= minBytes)

export const ed25519Secret: SecretType<Secret | 'none'> = {
  ...secret('HEX', 'none, or 0x and the 64 hexadecimal digits of an Ed25519 secret', () => false),
  parse: (text) => {
    if (text === 'none') return text
    return hexOf32Bytes.test(text) ? createSecret(text.toLowerCase()) : undefined
  },
}
