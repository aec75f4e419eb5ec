import type { TrustedProxies } from './api/client-address.ts'
import type { TokenSettings } from './api/open-tokens.ts'
import type { Allowed } from './api/policies.ts'
import { assert } from './lib/assert.ts'
import { type FlagProblem, type Flags, flagMessage } from './lib/flags.ts'
import { createSecret, type Secret } from './lib/secret.ts'
import type { MetricsAddress } from './metrics/server.ts'
import type { LedgerSettings } from './node/open-ledger.ts'
import {
  isNodeUrl,
  keyFileBeside,
  parseCount,
  parseDuration,
  parseKeySetSource,
  parseLeeway,
  parseOrigins,
  parsePort,
  parseProxies,
  parseSwitch,
} from './setting-values.ts'
import { leastSecretBytes, mostWorkers, type Setting, settings, switches } from './settings.ts'
import { databaseAddress, databaseUrlForms, isPostgresqlUrl } from './store/url.ts'

/** Reads settings one by one, from environment and flags. Pure. */

/** One thing that is wrong, to be shown with all the others. */
export type ConfigError =
  | FlagProblem
  | {
      readonly code: 'SETTING_INVALID'
      /** The variable, or the flag when the value came by it. */
      readonly setting: string
      /** `undefined` where the value is a secret. */
      readonly given: string | undefined
      readonly expected: string
    }

/** The environment of a process, or as much of it as a test wants. */
export interface Environment {
  readonly [variable: string]: string | undefined
}

/** A problem as a sentence. */
export function configMessage(error: ConfigError): string {
  if (error.code !== 'SETTING_INVALID') return flagMessage(error)
  const given = error.given === undefined ? '' : `, not ${JSON.stringify(error.given)}`
  return `${error.setting} must be ${error.expected}${given}`
}

interface Given {
  /** The value, or the default; `undefined` where there is neither. */
  readonly text: string | undefined
  /** What the operator knows it by. */
  readonly from: string
}

/** Gives what is given of a setting. */
export type GivenValues = (setting: Setting) => Given

/** Gives what the text of a setting means, or notes that it means nothing. */
export type Check = <T>(
  setting: Setting,
  parse: (text: string) => T | undefined,
  expected: string,
) => T

/** An empty variable counts as none, as in a shell script that passes on what it was not given. */
export function givenValues(
  known: readonly Setting[],
  env: Environment,
  flags: Flags['values'],
): GivenValues {
  return (setting) => {
    assert(known.includes(setting), `${setting.variable} is a setting of this command`)
    const { variable, flag, byDefault } = setting
    const [byFlag] = (flag === undefined ? undefined : flags.get(flag)) ?? []
    if (byFlag !== undefined) return { text: byFlag, from: `--${flag}` }
    const text = env[variable] === '' ? byDefault : (env[variable] ?? byDefault)
    return { text, from: variable }
  }
}

/** What was given is not repeated: it may hold a password. */
export function readDatabaseUrl(given: GivenValues, errors: ConfigError[]): Secret {
  const { text = '', from: setting } = given(settings.database)
  if (databaseAddress(text) === undefined) {
    const expected = databaseUrlForms
    errors.push({ code: 'SETTING_INVALID', setting, given: undefined, expected })
  }
  return createSecret(text)
}

export function readWakeUrl(given: GivenValues, errors: ConfigError[]): Secret | undefined {
  const { text, from: setting } = given(settings.wakeDatabase)
  if (text === undefined) return undefined
  if (!isPostgresqlUrl(text)) {
    const expected = 'postgresql://USER:PASSWORD@HOST:PORT/DATABASE'
    errors.push({ code: 'SETTING_INVALID', setting, given: undefined, expected })
  }
  return createSecret(text)
}

export function readOrigins(given: GivenValues, errors: ConfigError[]): Allowed | undefined {
  const { text, from: setting } = given(settings.allowedOrigins)
  if (text === undefined) return undefined
  const origins = parseOrigins(text)
  if (origins === undefined) {
    const expected = '*, or origins such as https://explorer.example with commas between'
    errors.push({ code: 'SETTING_INVALID', setting, given: text, expected })
  }
  return origins
}

export function readProxies(given: GivenValues, errors: ConfigError[]): TrustedProxies {
  const { text = '0', from: setting } = given(settings.trustProxy)
  const proxies = parseProxies(text)
  if (proxies !== undefined) return proxies
  const expected = 'a number from 0 to 9, or networks such as 10.0.0.0/8 with commas between'
  errors.push({ code: 'SETTING_INVALID', setting, given: text, expected })
  return { kind: 'none' }
}

/** A number without a default of its own. */
export function readNumber(
  setting: Setting,
  { given, errors, least = 1 }: { given: GivenValues; errors: ConfigError[]; least?: number },
): number | undefined {
  const { text, from } = given(setting)
  if (text === undefined) return undefined
  const value = parseCount(text)
  if (value === undefined || value < least) {
    const expected = `a whole number from ${least}`
    errors.push({ code: 'SETTING_INVALID', setting: from, given: text, expected })
  }
  return value
}

export function readMetrics(check: Check): MetricsAddress {
  return {
    host: check(settings.metricsHost, (text) => (text === '' ? undefined : text), 'an address'),
    port: check(settings.metricsPort, parsePort, 'a whole number from 0 to 65535'),
  }
}

export function readWorkers(given: GivenValues, errors: ConfigError[]): number {
  const { text = '', from: setting } = given(settings.workers)
  const workers = parseCount(text) ?? 0
  const isPostgresql = isPostgresqlUrl(given(settings.database).text ?? '')
  const most = isPostgresql ? mostWorkers : 1
  if (workers < 1 || workers > most) {
    const expected = isPostgresql
      ? `a whole number from 1 to ${most}`
      : '1 unless DATABASE_URL names PostgreSQL: a SQLite file is for one process'
    errors.push({ code: 'SETTING_INVALID', setting, given: text, expected })
  }
  return workers
}

/** For upstream mode alone. The message does not repeat the value, as with the nodes. */
export function readSnapshot(given: GivenValues, errors: ConfigError[]): string | undefined {
  const { text, from: setting } = given(settings.snapshot)
  if (text === undefined) return undefined
  const isUpstream = given(settings.ledger).text === 'upstream'
  const address = text.replace(/\/+$/, '')
  if (isUpstream && (!/^[a-z]+:\/\//i.test(text) || isNodeUrl(address))) return address
  const expected = isUpstream
    ? 'http(s)://HOST[:PORT][/PATH] without user and password, or the path of a file'
    : 'left out unless LEDGER is upstream'
  errors.push({ code: 'SETTING_INVALID', setting, given: undefined, expected })
  return undefined
}

/** Required in upstream mode. The message does not repeat the value: people put passwords into URLs. */
export function readUpstreamUrls(given: GivenValues, errors: ConfigError[]): readonly string[] {
  const { text = '', from: setting } = given(settings.upstreamUrls)
  const isUpstream = given(settings.ledger).text === 'upstream'
  if (!isUpstream && text === '') return []
  const urls = text.split(',').map((one) => one.trim().replace(/\/+$/, ''))
  if (!isUpstream || !urls.every(isNodeUrl)) {
    const expected = isUpstream
      ? 'addresses http(s)://HOST[:PORT][/PATH] with commas between, without user and password'
      : 'left out unless LEDGER is upstream'
    errors.push({ code: 'SETTING_INVALID', setting, given: undefined, expected })
  }
  return urls
}

export function readSigning(given: GivenValues, errors: ConfigError[]): TokenSettings['signing'] {
  const { text: secret, from: setting } = given(settings.jwtSecret)
  if (secret === undefined) {
    const { text: database = '' } = given(settings.database)
    return { kind: 'file', path: given(settings.keyFile).text ?? keyFileBeside(database) }
  }
  if (Buffer.byteLength(secret) < leastSecretBytes) {
    const expected = `at least ${leastSecretBytes} bytes long`
    errors.push({ code: 'SETTING_INVALID', setting, given: undefined, expected })
  }
  return { kind: 'secret', secret: createSecret(secret) }
}

/** The keys of an issuer sign for all that it serves: only a token that is for this gateway may count. */
export function readKeySet(given: GivenValues, errors: ConfigError[]): TokenSettings['keySet'] {
  const { text, from: setting } = given(settings.jwtJwks)
  if (text === undefined) return undefined
  const source = parseKeySetSource(text)
  if (source === undefined) {
    const expected = 'a file, or https://HOST/PATH (http for this machine alone)'
    errors.push({ code: 'SETTING_INVALID', setting, given: undefined, expected })
  }
  for (const needed of [settings.jwtIssuer, settings.jwtAudience]) {
    if (given(needed).text !== undefined) continue
    const expected = `set where ${settings.jwtJwks.variable} is`
    errors.push({ code: 'SETTING_INVALID', setting: needed.variable, given: undefined, expected })
  }
  return source
}

export function readTokenRules(
  given: GivenValues,
  check: Check,
  errors: ConfigError[],
): TokenSettings['tokenRules'] {
  return {
    issuer: given(settings.jwtIssuer).text,
    audience: given(settings.jwtAudience).text,
    mustExpire: check(settings.jwtRequireExpiry, parseSwitch, switches.join(', ')),
    maxAgeSeconds: readMaxAge(given, errors),
    leewaySeconds: check(settings.jwtLeeway, parseLeeway, 'a whole number from 0 to 300'),
  }
}

export function readMaxAge(given: GivenValues, errors: ConfigError[]): number | undefined {
  const { text, from: setting } = given(settings.jwtMaxAge)
  if (text === undefined) return undefined
  const seconds = parseDuration(text)
  if (seconds === undefined) {
    const expected = 'like 30m, 12h or 1d'
    errors.push({ code: 'SETTING_INVALID', setting, given: text, expected })
  }
  return seconds
}

/** The flags of URLs in which there is a password. */
export function exposedIn(flags: Flags['values']): readonly string[] {
  const hasPassword = (text: string) => (URL.parse(text)?.password ?? '') !== ''
  return [...flags].flatMap(([flag, texts]) => (texts.some(hasPassword) ? [`--${flag}`] : []))
}

export function readIssuerKey(
  given: GivenValues,
  errors: ConfigError[],
): LedgerSettings['issuerKey'] {
  const { text, from: setting } = given(settings.issuerKey)
  if (text === undefined || text === 'none') return text
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) {
    const expected = 'none, or 0x and the 64 hexadecimal digits of an Ed25519 secret'
    errors.push({ code: 'SETTING_INVALID', setting, given: undefined, expected })
  }
  return createSecret(text.toLowerCase())
}

export function readIssuerAccount(given: GivenValues, errors: ConfigError[]): string | undefined {
  const { text, from: setting } = given(settings.issuerAccount)
  if (text === undefined || /^0x[0-9a-fA-F]{64}$/.test(text)) return text?.toLowerCase()
  const expected = '0x and the 64 hexadecimal digits of an account id'
  errors.push({ code: 'SETTING_INVALID', setting, given: text, expected })
  return undefined
}
