import { basename, dirname, extname, join } from 'node:path'
import type { TokenSettings } from './api/tokens/open-tokens.ts'
import type { KeySource } from './api/tokens/signing-key.ts'
import type { TokenRequest } from './api/tokens/token.ts'
import { present } from './lib/assert.ts'
import { type Flags, flagMessage, parseFlags } from './lib/flags.ts'
import type { ListenAddress } from './lib/listen.ts'
import { nearest } from './lib/nearest.ts'
import { err, ok, type Result } from './lib/result.ts'
import { type Secret, withoutCredentials } from './lib/secret.ts'
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

/** All settings, frozen. Secrets are masked when they are printed. */
export interface Config extends SettingsOfAll, LedgerSettings, TokenSettings {
  /** Flags whose value contains a password. Every user of the machine can read a command line. */
  readonly exposed: readonly string[]
  /** Variables that are ignored although they resemble a setting. */
  readonly misspelled: readonly MisspelledVariable[]
  /** Address of the metrics server; `undefined` if metrics are not served. */
  readonly metrics: ListenAddress | undefined
}

type SettingsOfAll = Omit<SettingValues, keyof LedgerSettings>

/** The flag that prints the settings instead of serving. */
export const printFlag = 'print-config'

/** Reads all settings for `ledger-gateway serve`; `words` are the arguments after the command. */
export function parseConfig(
  env: Environment,
  words: readonly string[],
): Result<Config, readonly ConfigError[]> {
  const flags = serveFlags(words)
  const { values, given, errors } = readSettings(env, flags.values)
  const problems = [...flags.problems, ...errors, ...brokenRules(values, given)]
  if (!isComplete(values, problems)) return err(problems)
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
    misspelled: misspelledIn(env),
    metrics: metricsOf(values),
  }
  return ok(Object.freeze(config))
}

/** The effective value of a setting. */
export interface EffectiveSetting {
  readonly setting: Setting
  readonly origin: Origin
  /** Where the operator set the value: a variable, a flag, or a member of the settings file. */
  readonly place: string
  /** The value as a settings file would contain it, with secrets masked; `null` if the setting has no value. */
  readonly value: boolean | number | string | readonly string[] | null
}

/** The effective value of every setting, for settings that `parseConfig` accepts. */
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
  const bare = [...flagNames(all.filter(isBare)), printFlag]
  const { values, problems } = parseFlags(words, { once, bare })
  const masked = problems.map((one) => ({ ...one, word: withoutCredentials(one.word) }))
  return { values, problems: masked }
}

/** If no problem was found, every setting that was read and requires a value has one. */
function isComplete(
  _values: Partial<SettingValues>,
  problems: readonly ConfigError[],
): _values is SettingValues {
  return problems.length === 0
}

/** Problems between settings that are valid by themselves. */
function brokenRules(values: Partial<SettingValues>, given: Reading['given']): ConfigError[] {
  const isGiven = ({ name }: Setting) => given.get(name)?.text !== undefined
  const { workers = 1, databaseUrl, ledger } = values
  const { upstreamUrls, snapshot, parametersFile, jwtJwks, jwtIssuer, jwtAudience } = settings
  const { wakeDatabaseUrl, readDatabaseUrls } = settings
  const isPostgresql = databaseUrl === undefined || isPostgresqlUrl(databaseUrl.reveal())
  const onFile = '1 unless DATABASE_URL names PostgreSQL: a SQLite file is for one process'
  const onServer = (why: string) => `left out unless DATABASE_URL names PostgreSQL: ${why}`
  const noNotices = onServer('a SQLite file sends no notifications')
  const noReplicas = onServer('a SQLite file has no replicas')
  const notUpstream = 'left out unless LEDGER is upstream'
  const ofNodes = 'left out unless LEDGER is embedded: nodes serve the parameters of their network'
  const withKeySet = `set where ${jwtJwks.variable} is`
  const isEmbedded = ledger === 'embedded'
  const { port, host, metricsPort = 0, metricsHost } = values
  const isAny = [host, metricsHost].some((one) => one === '0.0.0.0' || one === '::')
  const isSamePort = metricsPort > 0 && metricsPort === port && (isAny || host === metricsHost)
  const rules: readonly (readonly [boolean, Setting, string])[] = [
    [workers > 1 && !isPostgresql, settings.workers, onFile],
    [isSamePort, settings.metricsPort, 'another port than PORT'],
    [values.wakeDatabaseUrl !== undefined && !isPostgresql, wakeDatabaseUrl, noNotices],
    [isGiven(readDatabaseUrls) && !isPostgresql, readDatabaseUrls, noReplicas],
    [isEmbedded && isGiven(upstreamUrls), upstreamUrls, notUpstream],
    [ledger === 'upstream' && !isGiven(upstreamUrls), upstreamUrls, upstreamUrls.type.expected],
    [isEmbedded && isGiven(snapshot), snapshot, notUpstream],
    [ledger === 'upstream' && isGiven(parametersFile), parametersFile, ofNodes],
    [isGiven(jwtJwks) && !isGiven(jwtIssuer), jwtIssuer, withKeySet],
    [isGiven(jwtJwks) && !isGiven(jwtAudience), jwtAudience, withKeySet],
  ]
  return rules
    .filter(([isBroken]) => isBroken)
    .map(([, setting, expected]) => {
      const { place } = present(given.get(setting.name), setting.name)
      // The value is valid by itself, so the message does not repeat it.
      return invalid(setting, place, undefined, expected)
    })
}

export function signingOf({ jwtSecret: secret, keyFile, databaseUrl }: SigningValues): KeySource {
  if (secret !== undefined) return { kind: 'secret', secret }
  return { kind: 'file', path: keyFile ?? defaultKeyFile(databaseUrl.reveal()) }
}

type SigningValues = Pick<SettingValues, 'databaseUrl'> &
  Partial<Pick<SettingValues, 'jwtSecret' | 'keyFile'>>

function metricsOf({ metricsPort: port, metricsHost: host }: SettingValues) {
  return port === undefined ? undefined : { host, port }
}

/** `./data/ledger-gateway.key` for `file:./data/ledger-gateway.db`, and for a database that is not a file. */
function defaultKeyFile(databaseUrl: string): string {
  const address = databaseAddress(databaseUrl)
  const path = address?.kind === 'sqlite' ? address.path : './data/ledger-gateway.db'
  return join(dirname(path), `${basename(path, extname(path))}.key`)
}

/** The flags whose URL contains a password. */
function exposedIn(flags: Flags['values']): readonly string[] {
  const hasPassword = (text: string) => /^\w+:\/\/([^:@/?#]*:[^@/?#]+@|.*[?&]password=)/.test(text)
  return [...flags].flatMap(([flag, texts]) => (texts.some(hasPassword) ? [`--${flag}`] : []))
}

/** A variable that is no setting, and the setting that it resembles. */
export interface MisspelledVariable {
  readonly variable: string
  readonly meant: string
}

/**
 * The variables that resemble a setting. A variable of one word does so only if it is the name of a setting without its underscores,
 * because other programs have many variables of one word.
 */
export function misspelledIn(env: Environment): readonly MisspelledVariable[] {
  const known = Object.values(settings).map(({ variable }) => variable)
  return Object.keys(env).flatMap((variable) => {
    if (known.includes(variable)) return []
    const meant = variable.includes('_')
      ? nearest(variable, known)
      : known.find((one) => one.replaceAll('_', '') === variable)
    return meant?.includes('_') === true ? [{ variable, meant }] : []
  })
}

/** Reads the source of the token key, for commands that need no other setting; `flags` are the flags of the command. */
export function parseSigning(
  env: Environment,
  flags: Flags['values'],
): Result<IssuerSettings, readonly ConfigError[]> {
  const { values, errors } = readSettings(env, flags, keySettings)
  if (!isComplete(values, errors)) return err(errors)
  const { jwtIssuer: issuer, jwtAudience: audience } = values
  return ok({ signing: signingOf(values), issuer, audience })
}

/** Settings that issue tokens. */
export interface IssuerSettings
  extends Pick<TokenSettings, 'signing'>,
    Pick<TokenRequest, 'issuer' | 'audience'> {}

/** Reads the URL of the database, for commands that need no other setting; `flags` are the flags of the command. */
export function parseDatabase(
  env: Environment,
  flags: Flags['values'],
): Result<Secret, readonly ConfigError[]> {
  const { values, errors } = readSettings(env, flags, databaseSettings)
  return isComplete(values, errors) ? ok(values.databaseUrl) : err(errors)
}

/** The names of the flags of some settings; a secret has no flag. */
function flagNames(of: readonly Setting[]): readonly string[] {
  return of.flatMap(({ flag }) => (flag === undefined ? [] : [flag]))
}

export function configMessage(error: ConfigError): string {
  switch (error.code) {
    case 'SETTING_INVALID': {
      const given = error.given === undefined ? '' : `, not ${JSON.stringify(error.given)}`
      return `${error.setting} must be ${error.expected}${given}`
    }
    case 'SETTING_GIVEN_TWICE':
      return `${error.settings.join(' and ')} are both set; remove one of them`
    case 'FILE_UNREADABLE':
      return error.path === undefined
        ? `${error.setting} names a file that cannot be read: ${error.reason}`
        : `${error.setting} names ${error.path}, which cannot be read: ${error.reason}`
    case 'SETTINGS_NOT_JSON':
      return `${error.path} is not valid JSON${error.place === undefined ? '' : ` at ${error.place}`}`
    case 'SETTINGS_NOT_OBJECT':
      return `${error.path} must be a JSON object with settings as its members`
    case 'SETTING_UNKNOWN': {
      const meant = error.meant === undefined ? '' : `; did you mean ${error.meant}?`
      return `${error.member} in ${error.path} is not a setting${meant}`
    }
    default:
      return flagMessage(error)
  }
}
