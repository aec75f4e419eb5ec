import { basename, dirname, extname, join } from 'node:path'
import type { TokenSettings } from './api/open-tokens.ts'
import type { KeySource } from './api/signing-key.ts'
import type { TokenRequest } from './api/token.ts'
import { present } from './lib/assert.ts'
import { type Flags, flagMessage, parseFlags } from './lib/flags.ts'
import { err, ok, type Result } from './lib/result.ts'
import type { Secret } from './lib/secret.ts'
import type { MetricsAddress } from './metrics/server.ts'
import type { LedgerSettings } from './node/open-ledger.ts'
import {
  type ConfigError,
  type Environment,
  invalid,
  type Origin,
  type Reading,
  readSettings,
} from './read-settings.ts'
import {
  databaseSettings,
  keySettings,
  type Setting,
  type SettingValues,
  settings,
} from './settings.ts'
import { valueInFile } from './settings-file.ts'
import { databaseAddress, isPostgresqlUrl } from './store/url.ts'

export type { ConfigError, Environment } from './read-settings.ts'

/** What the operator decides. */

/** All settings, frozen. Secrets do not print. */
export interface Config extends SettingsOfAll, LedgerSettings, TokenSettings {
  /** Flags whose value holds a password, which every user of the machine can read. */
  readonly exposed: readonly string[]
  /** Where metrics are served; `undefined` where they are not. */
  readonly metrics: MetricsAddress | undefined
}

type SettingsOfAll = Omit<SettingValues, keyof LedgerSettings>

/** The flag that shows the settings in place of serving. */
export const printFlag = 'print-config'

/** Reads all settings, for `ledger-gateway serve`; `words` are those after the command. */
export function parseConfig(
  env: Environment,
  words: readonly string[],
): Result<Config, readonly ConfigError[]> {
  const flags = serveFlags(words)
  const { values, given, errors } = readSettings(env, flags.values)
  const problems = [...flags.problems, ...errors, ...brokenRules(values, given)]
  if (!isWhole(values, problems)) return err(problems)
  const config: Config = {
    ...values,
    upstreamUrls: values.upstreamUrls ?? [],
    signing: signingOf(values),
    keySet: values.jwtJwks,
    tokenRules: {
      issuer: values.jwtIssuer,
      audience: values.jwtAudience,
      mustExpire: values.jwtRequireExpiry,
      maxAgeSeconds: values.jwtMaxAge,
      leewaySeconds: values.jwtLeeway,
    },
    revocationsFile: values.jwtRevocations,
    exposed: exposedIn(flags.values),
    metrics: metricsOf(values),
  }
  return ok(Object.freeze(config))
}

/** One setting as it is in effect. */
export interface EffectiveSetting {
  readonly setting: Setting
  readonly origin: Origin
  /** What the operator knows the value by. */
  readonly place: string
  /** As a settings file would have it; of a secret only what may be shown. `null` where there is none. */
  readonly value: boolean | number | string | readonly string[] | null
}

/** What of all settings is in effect, for settings that `parseConfig` takes. */
export function effectiveSettings(
  env: Environment,
  words: readonly string[],
): readonly EffectiveSetting[] {
  const { given } = readSettings(env, serveFlags(words).values)
  return Object.values(settings).flatMap((setting) => {
    const { text, origin, place } = present(given.get(setting.name), setting.name)
    const value = text === undefined ? null : valueInFile(text, setting.type)
    return [{ setting, origin, place, value }]
  })
}

/** The flags of `ledger-gateway serve`. */
export function serveFlags(words: readonly string[]): Flags {
  const all = Object.values(settings)
  const isBare = ({ value }: Setting) => value === ''
  const once = flagNames(all.filter((one) => !isBare(one)))
  return parseFlags(words, { once, bare: [...flagNames(all.filter(isBare)), printFlag] })
}

/** Without a problem every setting that was read and has to have a value has one. */
function isWhole(
  _values: Partial<SettingValues>,
  problems: readonly ConfigError[],
): _values is SettingValues {
  return problems.length === 0
}

/** What is wrong between settings that are right by themselves. */
function brokenRules(values: Partial<SettingValues>, given: Reading['given']): ConfigError[] {
  const isGiven = ({ name }: Setting) => given.get(name)?.text !== undefined
  const { workers = 1, databaseUrl, ledger } = values
  const { upstreamUrls, snapshot, jwtJwks, jwtIssuer, jwtAudience, readDatabaseUrls } = settings
  const isPostgresql = databaseUrl === undefined || isPostgresqlUrl(databaseUrl.reveal())
  const onFile = '1 unless DATABASE_URL names PostgreSQL: a SQLite file is for one process'
  const onServer = 'left out unless DATABASE_URL names PostgreSQL: a SQLite file has no replicas'
  const notUpstream = 'left out unless LEDGER is upstream'
  const withKeySet = `set where ${jwtJwks.variable} is`
  const isEmbedded = ledger === 'embedded'
  const rules: readonly (readonly [boolean, Setting, string])[] = [
    [workers > 1 && !isPostgresql, settings.workers, onFile],
    [isGiven(readDatabaseUrls) && !isPostgresql, readDatabaseUrls, onServer],
    [isEmbedded && isGiven(upstreamUrls), upstreamUrls, notUpstream],
    [ledger === 'upstream' && !isGiven(upstreamUrls), upstreamUrls, upstreamUrls.type.expected],
    [isEmbedded && isGiven(snapshot), snapshot, notUpstream],
    [isGiven(jwtJwks) && !isGiven(jwtIssuer), jwtIssuer, withKeySet],
    [isGiven(jwtJwks) && !isGiven(jwtAudience), jwtAudience, withKeySet],
  ]
  return rules
    .filter(([isBroken]) => isBroken)
    .map(([, setting, expected]) => {
      const { text, place } = present(given.get(setting.name), setting.name)
      return invalid(setting, place, text, expected)
    })
}

/** What tokens are signed with. */
export function signingOf({ jwtSecret: secret, keyFile, databaseUrl }: SigningValues): KeySource {
  if (secret !== undefined) return { kind: 'secret', secret }
  return { kind: 'file', path: keyFile ?? keyFileBeside(databaseUrl.reveal()) }
}

type SigningValues = Pick<SettingValues, 'databaseUrl'> &
  Partial<Pick<SettingValues, 'jwtSecret' | 'keyFile'>>

function metricsOf({ metricsPort: port, metricsHost: host }: SettingValues) {
  return port === undefined ? undefined : { host, port }
}

/** `./data/ledger-gateway.key` for `file:./data/ledger-gateway.db`, and for a database that is no file. */
function keyFileBeside(databaseUrl: string): string {
  const address = databaseAddress(databaseUrl)
  const path = address?.kind === 'sqlite' ? address.path : './data/ledger-gateway.db'
  return join(dirname(path), `${basename(path, extname(path))}.key`)
}

/** The flags of URLs in which there is a password. */
function exposedIn(flags: Flags['values']): readonly string[] {
  const hasPassword = (text: string) => /^\w+:\/\/[^:@/?#]*:[^@/?#]+@/.test(text)
  return [...flags].flatMap(([flag, texts]) => (texts.some(hasPassword) ? [`--${flag}`] : []))
}

/** Reads where the key of tokens is, for commands that need nothing else; `flags` are the values of theirs. */
export function parseSigning(
  env: Environment,
  flags: Flags['values'],
): Result<IssuerSettings, readonly ConfigError[]> {
  const { values, errors } = readSettings(env, flags, keySettings)
  if (!isWhole(values, errors)) return err(errors)
  const { jwtIssuer: issuer, jwtAudience: audience } = values
  return ok({ signing: signingOf(values), issuer, audience })
}

/** What tokens are made with. */
export interface IssuerSettings
  extends Pick<TokenSettings, 'signing'>,
    Pick<TokenRequest, 'issuer' | 'audience'> {}

/** Reads which database, for commands that need nothing else; `flags` are the values of theirs. */
export function parseDatabase(
  env: Environment,
  flags: Flags['values'],
): Result<Secret, readonly ConfigError[]> {
  const { values, errors } = readSettings(env, flags, databaseSettings)
  return isWhole(values, errors) ? ok(values.databaseUrl) : err(errors)
}

/** The flags of some settings. */
export function flagNames(of: readonly Setting[]): readonly string[] {
  return of.flatMap(({ flag }) => (flag === undefined ? [] : [flag]))
}

/** A problem as a sentence. */
export function configMessage(error: ConfigError): string {
  switch (error.code) {
    case 'SETTING_INVALID': {
      const given = error.given === undefined ? '' : `, not ${JSON.stringify(error.given)}`
      return `${error.setting} must be ${error.expected}${given}`
    }
    case 'SETTING_GIVEN_TWICE':
      return `${error.settings.join(' and ')} are both given; leave one of them out`
    case 'FILE_UNREADABLE':
      return `${error.setting} names ${error.path}, which cannot be read: ${error.reason}`
    case 'SETTINGS_NOT_JSON':
      return `${error.path} is not JSON${error.place === undefined ? '' : ` at ${error.place}`}`
    case 'SETTINGS_NOT_OBJECT':
      return `${error.path} must be a JSON object with settings as its members`
    case 'SETTING_UNKNOWN': {
      const meant = error.meant === undefined ? '' : `; did you mean ${error.meant}?`
      return `${error.member} in ${error.path} is no setting${meant}`
    }
    default:
      return flagMessage(error)
  }
}
