import type { TrustedProxies } from './api/client-address.ts'
import type { Allowed } from './api/policies.ts'
import type { KeySource } from './api/signing-key.ts'
import { assert } from './lib/assert.ts'
import { type FlagProblem, type Flags, flagMessage, parseFlags } from './lib/flags.ts'
import { type LogLevel, logLevels } from './lib/log.ts'
import { err, ok, type Result } from './lib/result.ts'
import { createSecret, type Secret } from './lib/secret.ts'
import type { LedgerSettings } from './node/open-ledger.ts'
import {
  isNodeUrl,
  keyFileBeside,
  oneOf,
  parseCount,
  parseDrain,
  parseNames,
  parseOrigins,
  parsePort,
  parseProxies,
  parseRetention,
  parseSwitch,
} from './setting-values.ts'
import {
  keySettings,
  leastSecretBytes,
  ledgerKinds,
  mostWorkers,
  type Setting,
  settings,
  submitModes,
  switches,
} from './settings.ts'
import { databaseAddress, databaseUrlForms, isPostgresqlUrl } from './store/url.ts'

/** What the operator decides, from environment and flags; a flag wins over its variable. Pure. */

/** All settings, frozen. Secrets do not print. */
export interface Config extends LedgerSettings {
  /** The address to listen on. */
  readonly host: string
  /** The port to listen on; 0 takes any free one. */
  readonly port: number
  /** `file:PATH` for SQLite, the path from the current folder, or `postgresql://…`, which may hold a password. */
  readonly databaseUrl: Secret
  /** Whether a database that holds no ledger, or is not there, is made and begins one. */
  readonly mayCreate: boolean
  /** PostgreSQL with a pooler: the URL past the pooler, for notifications of commits; `undefined` for the same URL. */
  readonly wakeUrl: Secret | undefined
  /** How many processes serve the port together. */
  readonly workers: number
  /** Who may submit blocks: everyone, no one, or the holder of a valid token. */
  readonly submit: (typeof submitModes)[number]
  /** What tokens are signed and checked with: HS256 by a shared secret where there is one, else EdDSA by a key file. */
  readonly signing: KeySource
  /** How many of the newest milestones the log keeps. */
  readonly logRetention: number | 'all'
  /** For how many slots blocks that carry nothing are kept. */
  readonly blockRetention: number | 'all'
  /** A manifest of the only GraphQL documents that are answered. */
  readonly trustedDocumentsFile: string | undefined
  /** Whose pages may read answers and open WebSockets; `undefined` for what is usual on the network. */
  readonly allowedOrigins: Allowed | undefined
  /** By which names requests may call the gateway. */
  readonly allowedHosts: Allowed
  /** Whether browsers are shown GraphiQL. */
  readonly hasGraphiql: boolean
  /** Whether introspection is answered, and errors suggest names. */
  readonly hasIntrospection: boolean
  /** Megabytes of memory for parts of the ledger state. */
  readonly stateMemory: number
  /** How many WebSockets and event streams may be open. */
  readonly maxConnections: number
  /** How many subscriptions may be open on all of them. */
  readonly maxSubscriptions: number
  /** Whose word on the addresses of clients counts. */
  readonly proxies: TrustedProxies
  /** Units of cost that one client may spend a second; `undefined` for what is usual on the network. */
  readonly clientCost: number | undefined
  /** How many WebSockets and event streams one client may have open; `undefined` as above. */
  readonly clientConnections: number | undefined
  /** How many subscriptions and long polls one client may have open; `undefined` as above. */
  readonly clientSubscriptions: number | undefined
  /** How many payloads of one client the node signs blocks around a day; `undefined` as above. */
  readonly clientPayloads: number | undefined
  /** Megabytes of blocks that one client may add a day; `undefined` as above. */
  readonly clientMegabytes: number | undefined
  /** Megabytes of the disk of a SQLite file that are to be free for new blocks to be taken. */
  readonly minFreeDisk: number
  /** Megabytes of the database beyond which no new blocks are taken; `undefined` for no limit. */
  readonly maxDatabaseSize: number | undefined
  /** Beyond which mean delay of the event loop requests are refused, in milliseconds, 0 for never; `undefined` as above. */
  readonly maxLoopDelay: number | undefined
  /** For how long the gateway says that it is not ready, and goes on serving, before it stops. */
  readonly drainDelaySeconds: number
  /** Over how long listeners are sent away when the gateway stops. */
  readonly drainSeconds: number
  readonly logLevel: LogLevel
}

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

/** Reads all settings, for `ledger-gateway serve`; `words` are those after the command. */
export function parseConfig(
  env: Environment,
  words: readonly string[],
): Result<Config, readonly ConfigError[]> {
  const all = Object.values(settings)
  const isBare = ({ value }: Setting) => value === ''
  const once = flagNames(all.filter((one) => !isBare(one)))
  const flags = parseFlags(words, { once, bare: flagNames(all.filter(isBare)) })
  const given = givenValues(all, env, flags.values)
  const errors: ConfigError[] = [...flags.problems]
  const check = <T>(name: Setting, parse: (text: string) => T | undefined, expected: string): T => {
    const { text = '', from } = given(name)
    const value = parse(text)
    if (value === undefined) {
      errors.push({ code: 'SETTING_INVALID', setting: from, given: text, expected })
    }
    // With an error the whole is thrown away, so that the missing value is never seen.
    return value as T
  }
  const config: Config = {
    // The system would take none for all of them.
    host: check(settings.host, (text) => (text === '' ? undefined : text), 'an address'),
    port: check(settings.port, parsePort, 'a whole number from 0 to 65535'),
    databaseUrl: readDatabaseUrl(given, errors),
    mayCreate: !check(settings.noCreate, parseSwitch, switches.join(', ')),
    wakeUrl: readWakeUrl(given, errors),
    workers: readWorkers(given, errors),
    submit: check(settings.submit, oneOf(submitModes), submitModes.join(', ')),
    signing: readSigning(given, errors),
    ledger: check(settings.ledger, oneOf(ledgerKinds), ledgerKinds.join(', ')),
    upstreamUrls: readUpstreamUrls(given, errors),
    upstreamProofs: check(settings.upstreamProofs, oneOf(switches), switches.join(', ')),
    genesisFile: given(settings.genesis).text,
    parametersFile: given(settings.parameters).text,
    issuerKey: readIssuerKey(given, errors),
    issuerAccount: readIssuerAccount(given, errors),
    stateMemory: check(settings.stateMemory, parseCount, 'a whole number'),
    logRetention: check(settings.logRetention, parseRetention, 'all, or a whole number from 1'),
    blockRetention: check(settings.blockRetention, parseRetention, 'all, or a whole number from 1'),
    trustedDocumentsFile: given(settings.trustedDocuments).text,
    allowedOrigins: readOrigins(given, errors),
    allowedHosts: check(settings.allowedHosts, parseNames, '*, or names with commas between'),
    hasGraphiql: check(settings.graphiql, parseSwitch, switches.join(', ')),
    hasIntrospection: check(settings.introspection, parseSwitch, switches.join(', ')),
    maxConnections: check(settings.maxConnections, parseCount, 'a whole number'),
    maxSubscriptions: check(settings.maxSubscriptions, parseCount, 'a whole number'),
    proxies: readProxies(given, errors),
    clientCost: readNumber(settings.clientCost, { given, errors }),
    clientConnections: readNumber(settings.clientConnections, { given, errors }),
    clientSubscriptions: readNumber(settings.clientSubscriptions, { given, errors }),
    clientPayloads: readNumber(settings.clientPayloads, { given, errors, least: 0 }),
    clientMegabytes: readNumber(settings.clientMegabytes, { given, errors }),
    minFreeDisk: check(settings.minFreeDisk, parseCount, 'a whole number'),
    maxDatabaseSize: readNumber(settings.maxDatabaseSize, { given, errors }),
    maxLoopDelay: readNumber(settings.maxLoopDelay, { given, errors, least: 0 }),
    drainDelaySeconds: check(settings.drainDelay, parseDrain, 'a whole number from 0 to 60'),
    drainSeconds: check(settings.drainSeconds, parseDrain, 'a whole number from 0 to 60'),
    logLevel: check(settings.logLevel, oneOf(logLevels), logLevels.join(', ')),
  }
  return errors.length === 0 ? ok(Object.freeze(config)) : err(errors)
}

/** Reads where the key of tokens is, for commands that need nothing else; `values` are those of their flags. */
export function parseSigning(
  env: Environment,
  values: Flags['values'],
): Result<KeySource, readonly ConfigError[]> {
  const errors: ConfigError[] = []
  const signing = readSigning(givenValues(keySettings, env, values), errors)
  return errors.length === 0 ? ok(signing) : err(errors)
}

/** Reads which database, for commands that need nothing else; `values` are those of their flags. */
export function parseDatabase(
  env: Environment,
  values: Flags['values'],
): Result<Secret, readonly ConfigError[]> {
  const errors: ConfigError[] = []
  const url = readDatabaseUrl(givenValues([settings.database], env, values), errors)
  return errors.length === 0 ? ok(url) : err(errors)
}

/** The flags of some settings. */
export function flagNames(of: readonly Setting[]): readonly string[] {
  return of.flatMap(({ flag }) => (flag === undefined ? [] : [flag]))
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

type GivenValues = (setting: Setting) => Given

/** An empty variable counts as none, as in a shell script that passes on what it was not given. */
function givenValues(
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
function readDatabaseUrl(given: GivenValues, errors: ConfigError[]): Secret {
  const { text = '', from: setting } = given(settings.database)
  if (databaseAddress(text) === undefined) {
    const expected = databaseUrlForms
    errors.push({ code: 'SETTING_INVALID', setting, given: undefined, expected })
  }
  return createSecret(text)
}

function readWakeUrl(given: GivenValues, errors: ConfigError[]): Secret | undefined {
  const { text, from: setting } = given(settings.wakeDatabase)
  if (text === undefined) return undefined
  if (!isPostgresqlUrl(text)) {
    const expected = 'postgresql://USER:PASSWORD@HOST:PORT/DATABASE'
    errors.push({ code: 'SETTING_INVALID', setting, given: undefined, expected })
  }
  return createSecret(text)
}

function readOrigins(given: GivenValues, errors: ConfigError[]): Config['allowedOrigins'] {
  const { text, from: setting } = given(settings.allowedOrigins)
  if (text === undefined) return undefined
  const origins = parseOrigins(text)
  if (origins === undefined) {
    const expected = '*, or origins such as https://explorer.example with commas between'
    errors.push({ code: 'SETTING_INVALID', setting, given: text, expected })
  }
  return origins
}

function readProxies(given: GivenValues, errors: ConfigError[]): TrustedProxies {
  const { text = '0', from: setting } = given(settings.trustProxy)
  const proxies = parseProxies(text)
  if (proxies !== undefined) return proxies
  const expected = 'a number from 0 to 9, or networks such as 10.0.0.0/8 with commas between'
  errors.push({ code: 'SETTING_INVALID', setting, given: text, expected })
  return { kind: 'none' }
}

/** A number without a default of its own. */
function readNumber(
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

function readWorkers(given: GivenValues, errors: ConfigError[]): number {
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

/** Required in upstream mode. The message does not repeat the value: people put passwords into URLs. */
function readUpstreamUrls(given: GivenValues, errors: ConfigError[]): readonly string[] {
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

function readSigning(given: GivenValues, errors: ConfigError[]): KeySource {
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

function readIssuerKey(given: GivenValues, errors: ConfigError[]): Config['issuerKey'] {
  const { text, from: setting } = given(settings.issuerKey)
  if (text === undefined || text === 'none') return text
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) {
    const expected = 'none, or 0x and the 64 hexadecimal digits of an Ed25519 secret'
    errors.push({ code: 'SETTING_INVALID', setting, given: undefined, expected })
  }
  return createSecret(text.toLowerCase())
}

function readIssuerAccount(given: GivenValues, errors: ConfigError[]): string | undefined {
  const { text, from: setting } = given(settings.issuerAccount)
  if (text === undefined || /^0x[0-9a-fA-F]{64}$/.test(text)) return text?.toLowerCase()
  const expected = '0x and the 64 hexadecimal digits of an account id'
  errors.push({ code: 'SETTING_INVALID', setting, given: text, expected })
  return undefined
}
