import type { TrustedProxies } from './api/client-address.ts'
import type { TokenSettings } from './api/open-tokens.ts'
import type { Allowed } from './api/policies.ts'
import type { TokenRequest } from './api/token.ts'
import { type Flags, parseFlags } from './lib/flags.ts'
import { type LogLevel, logLevels } from './lib/log.ts'
import { err, ok, type Result } from './lib/result.ts'
import type { Secret } from './lib/secret.ts'
import type { MetricsAddress } from './metrics/server.ts'
import type { LedgerSettings } from './node/open-ledger.ts'
import {
  type Check,
  type ConfigError,
  type Environment,
  exposedIn,
  givenValues,
  readDatabaseUrl,
  readIssuerAccount,
  readIssuerKey,
  readKeySet,
  readMetrics,
  readNumber,
  readOrigins,
  readProxies,
  readSigning,
  readSnapshot,
  readTokenRules,
  readUpstreamUrls,
  readWakeUrl,
  readWorkers,
} from './read-settings.ts'
import {
  oneOf,
  parseCount,
  parseDrain,
  parseNames,
  parsePort,
  parseRetention,
  parseSwitch,
} from './setting-values.ts'
import {
  keySettings,
  ledgerKinds,
  type Setting,
  settings,
  submitModes,
  switches,
} from './settings.ts'

export { type ConfigError, configMessage, type Environment } from './read-settings.ts'

/** What the operator decides, from environment and flags; a flag wins over its variable. Pure. */

/** All settings, frozen. Secrets do not print. */
export interface Config extends LedgerSettings, TokenSettings {
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
  /** Whether browsers are shown the explorer. */
  readonly hasExplorer: boolean
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
  /** Flags whose value holds a password, which every user of the machine can read. */
  readonly exposed: readonly string[]
  /** Where metrics are served; `undefined` where they are not. */
  readonly metrics: MetricsAddress | undefined
  /** From how many milliseconds on a request or an operation is slow; 0 for none. */
  readonly slowOperationMs: number
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
  const check: Check = (name, parse, expected) => {
    const { text = '', from } = given(name)
    const value = parse(text)
    if (value === undefined) {
      errors.push({ code: 'SETTING_INVALID', setting: from, given: text, expected })
    }
    // With an error the whole is thrown away, so that the missing value is never seen.
    return value as NonNullable<typeof value>
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
    keySet: readKeySet(given, errors),
    tokenRules: readTokenRules(given, check, errors),
    revocationsFile: given(settings.jwtRevocations).text,
    ledger: check(settings.ledger, oneOf(ledgerKinds), ledgerKinds.join(', ')),
    upstreamUrls: readUpstreamUrls(given, errors),
    upstreamProofs: check(settings.upstreamProofs, oneOf(switches), switches.join(', ')),
    snapshot: readSnapshot(given, errors),
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
    hasExplorer: check(settings.explorer, parseSwitch, switches.join(', ')),
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
    exposed: exposedIn(flags.values),
    metrics: given(settings.metricsPort).text === undefined ? undefined : readMetrics(check),
    slowOperationMs: check(settings.slowOperation, parseCount, 'a whole number'),
  }
  return errors.length === 0 ? ok(Object.freeze(config)) : err(errors)
}

/** Reads where the key of tokens is, for commands that need nothing else; `values` are those of their flags. */
export function parseSigning(
  env: Environment,
  values: Flags['values'],
): Result<IssuerSettings, readonly ConfigError[]> {
  const errors: ConfigError[] = []
  const given = givenValues(keySettings, env, values)
  const signing = readSigning(given, errors)
  const [issuer, audience] = [given(settings.jwtIssuer).text, given(settings.jwtAudience).text]
  return errors.length === 0 ? ok({ signing, issuer, audience }) : err(errors)
}

/** What tokens are made with. */
export interface IssuerSettings
  extends Pick<TokenSettings, 'signing'>,
    Pick<TokenRequest, 'issuer' | 'audience'> {}

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
