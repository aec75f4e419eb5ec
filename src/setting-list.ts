import { clientSettings } from './client-settings.ts'
import { logLevels } from './lib/log.ts'
import {
  accountId,
  bareSwitch,
  databaseUrl,
  duration,
  ed25519Secret,
  hostNames,
  integer,
  keySetSource,
  nodeUrlOrFile,
  nodeUrls,
  nonEmpty,
  oneOf,
  onOrOff,
  origins,
  postgresqlUrl,
  postgresqlUrls,
  retention,
  sharedSecret,
  type ValueType,
} from './setting-values.ts'

/** Declares every setting of a gateway once: the parsers, the help, `docs/settings.md` and its JSON Schema derive from here. */

/** Declaration of one setting. Its key is the name in a settings file; `METRICS_PORT` and `--metrics-port` derive from it. */
export interface Declaration {
  readonly type: ValueType<unknown>
  /** Default value, as text. */
  readonly byDefault?: string
  /** Description of the behaviour without a value, for a setting that has no default value. */
  readonly without?: string
  /** Name of the flag, without dashes, if it differs from the name of the variable. */
  readonly flag?: string
  /** Description in one line; code is in backticks. */
  readonly help: string
  /** Details that only `docs/settings.md` shows. */
  readonly more?: string
}

export type Declarations = Readonly<Record<string, Declaration>>

/** Minimum length of a shared secret in bytes: a key of HS256 has at least as many bits as its hash (RFC 7518 3.2). */
const minSecretBytes = 32

/** Maximum number of processes behind one port: more would wait for each other. */
const maxWorkers = 64

const port = integer('NUMBER', { max: 65_535 })
// An address must not be empty: the system would listen on all addresses.
const address = nonEmpty('ADDRESS', 'an address')
/** The path of a file, relative to the current folder. */
export const path = nonEmpty('PATH', 'the path of a file')
/** The path of the file of a key. A key in its place would become the name of a new file with another key. */
const keyPath: ValueType<string> = {
  ...path,
  expected: 'the path of a file, not the key itself',
  isQuiet: true,
  parse: (text) => (text.includes('-----BEGIN') ? undefined : path.parse(text)),
}
const text = nonEmpty('TEXT')
const seconds = integer('NUMBER', { max: 60 })

const listening = {
  configFile: {
    type: path,
    flag: 'config',
    without: 'none',
    help: 'settings file in JSON; environment variables and flags override it',
  },
  host: { type: address, byDefault: '127.0.0.1', help: 'address to listen on' },
  port: { type: port, byDefault: '4000', help: 'port to listen on; 0 picks a free port' },
  workers: {
    type: integer('NUMBER', { min: 1, max: maxWorkers }),
    byDefault: '1',
    help: `number of processes that share the port, at most ${maxWorkers}; more than one requires PostgreSQL`,
    more: 'See [cluster.md](cluster.md).',
  },
} as const satisfies Declarations

const database = {
  databaseUrl: {
    type: databaseUrl,
    flag: 'database',
    byDefault: 'file:./data/ledger-gateway.db',
    help: 'SQLite file, as `file:` and a path relative to the current folder, or `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`',
    more: 'PostgreSQL must have version 14 or later. Its tables are in the first schema of the `search_path`, which `?options=-csearch_path=NAME` sets. A URL may list several `HOST:PORT`, separated by commas; `?target_session_attrs=read-write` selects the writable server ([high-availability.md](high-availability.md)).',
  },
  noCreate: {
    type: bareSwitch,
    byDefault: 'off',
    help: '`on`, or the flag alone, refuses a database that holds no ledger instead of creating one',
    more: 'Nothing is created in that case.',
  },
  wakeDatabaseUrl: {
    type: postgresqlUrl,
    without: '`DATABASE_URL`',
    help: 'PostgreSQL behind a pooler: URL that bypasses the pooler, to receive notifications of other processes',
  },
  readDatabaseUrls: {
    type: postgresqlUrls,
    without: '`DATABASE_URL` alone',
    help: 'PostgreSQL with read replicas: URLs of the replicas, separated by commas; queries and feeds read from one of them',
    more: 'See [high-availability.md](high-availability.md#read-replicas).',
  },
  readMaxLag: {
    type: integer('NUMBER', { min: 1, max: 3_600 }),
    byDefault: '10',
    help: 'maximum lag of a read replica in seconds; a replica that lags more is not used',
  },
} as const satisfies Declarations

const tokens = {
  submit: {
    type: oneOf('MODE', ['open', 'closed', 'token']),
    byDefault: 'open',
    help: 'who may submit blocks: `open`, `closed` or `token`',
  },
  keyFile: {
    type: keyPath,
    without: 'next to the database',
    help: 'file of the key that signs tokens; created when missing',
    more: 'The algorithm is EdDSA, or ES256 if the file holds a P-256 key. A file that other users can read is refused.',
  },
  jwtSecret: {
    type: sharedSecret(minSecretBytes),
    help: `shared secret for HS256 tokens, at least ${minSecretBytes} bytes; replaces the key file`,
  },
  jwtIssuer: {
    type: text,
    without: 'any',
    help: 'issuer (`iss`) that a token must have',
    more: '`ledger-gateway token` adds it to new tokens.',
  },
  jwtAudience: {
    type: text,
    without: 'any',
    help: 'audience (`aud`) that a token must have',
    more: '`ledger-gateway token` adds it to new tokens.',
  },
  jwtJwks: {
    type: keySetSource,
    without: 'none',
    help: 'JSON Web Key Set of another token issuer, as a file or an https URL, in addition to the own key; requires `JWT_ISSUER` and `JWT_AUDIENCE`',
    more: 'Its keys are EdDSA or ES256 keys: see [security.md](security.md).',
  },
  jwtRequireExpiry: {
    type: onOrOff,
    byDefault: 'off',
    help: '`on` refuses tokens without an expiry time (`exp`)',
  },
  jwtMaxAge: {
    type: duration,
    without: 'unlimited',
    help: 'maximum age of a token since its issue (`iat`), such as `30m`, `12h` or `1d`',
  },
  jwtLeeway: {
    type: integer('NUMBER', { max: 300 }),
    byDefault: '0',
    help: 'accepted clock skew of a token issuer in seconds, at most 300',
  },
  jwtRevocations: {
    type: path,
    without: 'none',
    help: 'file of revoked tokens, with `jti ID` or `sub NAME` on each line; changes apply while the gateway runs',
  },
} as const satisfies Declarations

const ledger = {
  ledger: {
    type: oneOf('KIND', ['embedded', 'upstream']),
    byDefault: 'embedded',
    help: 'source of the ledger: `embedded` (run by this program) or `upstream` (followed from nodes)',
    more: 'See [upstream.md](upstream.md).',
  },
  upstreamUrls: {
    type: nodeUrls,
    help: 'with `upstream`: URLs of the nodes or gateways to follow, separated by commas, the preferred one first',
  },
  upstreamProofs: {
    type: onOrOff,
    byDefault: 'on',
    help: 'with `upstream`: `on` verifies the proof of every output, which costs one request per output; `off` skips the check',
  },
  snapshot: {
    type: nodeUrlOrFile,
    without: 'the genesis',
    help: 'with `upstream`: snapshot from which a new database starts: the URL of a gateway, or a file from a gateway or iota-core',
  },
  genesisFile: {
    type: path,
    without: 'the development genesis',
    help: 'genesis of a new database',
    more: '`{"parameters", "outputs", "credits"}` as JSON, with any number of outputs; or the genesis snapshot of an iota-core network ([iota-core-snapshot.md](iota-core-snapshot.md)).',
  },
  parametersFile: {
    type: path,
    without: 'the development network',
    help: 'with `embedded`: protocol parameters of a new database as JSON; a response of `/api/core/v3/info` is also accepted',
    more: 'The outputs of the genesis must hold their supply.',
  },
  issuerKey: {
    type: ed25519Secret,
    without: 'the key of the development network',
    help: "Ed25519 secret of the node's issuer account, `0x` and 64 hexadecimal digits; `none` for no account",
  },
  issuerAccount: {
    type: accountId,
    without: 'the hash of its public key',
    help: "id of the node's issuer account",
  },
  stateMemory: {
    type: integer('MB'),
    byDefault: '64',
    help: 'megabytes of memory in which the writer caches recently used parts of the ledger state; other parts are read on demand',
  },
  logRetention: {
    type: retention('MILESTONES'),
    byDefault: 'all',
    help: 'number of newest milestones that are kept in the log of ledger updates; `all` keeps every milestone',
  },
  blockRetention: {
    type: retention('SLOTS'),
    byDefault: 'all',
    help: 'number of slots for which blocks are kept that carry no transaction and no vote that is still to be counted; `all` keeps every block',
    more: 'A candidacy, or a vote of a validator in the current or the previous epoch, is such a vote. Blocks are kept for at least twice the maximum committable age.',
  },
} as const satisfies Declarations

const watching = {
  metricsPort: {
    type: port,
    without: 'not served',
    help: 'port that serves `/metrics` for Prometheus; 0 picks a free port',
    more: 'See [operations.md](operations.md#metrics).',
  },
  metricsHost: {
    type: address,
    byDefault: '127.0.0.1',
    help: 'address that serves `/metrics`',
  },
  slowOperationMs: {
    type: integer('NUMBER'),
    byDefault: '1000',
    help: 'duration in milliseconds from which a request or an operation is logged as slow; 0 turns this off',
  },
  logLevel: {
    type: oneOf('LEVEL', logLevels),
    byDefault: 'info',
    help: `lowest level of the events that are written to standard error: ${logLevels.join(', ')}`,
    more: 'Each event is one line of JSON.',
  },
} as const satisfies Declarations

const access = {
  trustedDocuments: {
    type: path,
    without: 'all documents',
    help: 'JSON manifest of the only GraphQL documents that are executed, besides those of the explorer',
    more: 'It applies to every transport: see [graphql.md](graphql.md).',
  },
  allowedOrigins: {
    type: origins,
    without: '`*` on the development network, elsewhere only its own origin',
    help: 'origins of web pages that may read responses and open WebSockets, separated by commas; `*` for all',
  },
  allowedHosts: {
    type: hostNames,
    byDefault: '*',
    help: 'host names (`Host`) that requests may use, without ports, separated by commas; `*` for all',
    more: 'Set this if a foreign web page could point its own host name at the gateway (DNS rebinding). Health checks are answered under every name.',
  },
  explorer: {
    type: onOrOff,
    byDefault: 'on',
    help: '`on` serves the ledger explorer to browsers at `/`; `off` does not',
    more: 'See [explorer.md](explorer.md).',
  },
  graphiql: {
    type: onOrOff,
    byDefault: 'on',
    help: '`on` serves the GraphiQL query editor to browsers at `/graphql`; `off` does not',
  },
  introspection: {
    type: onOrOff,
    byDefault: 'on',
    help: '`on` allows introspection of the GraphQL schema and suggests names in errors; `off` does neither',
  },
} as const satisfies Declarations

const stopping = {
  drainDelay: {
    type: seconds,
    byDefault: '5',
    help: 'seconds for which a stopping gateway reports that it is not ready but still serves requests, at most 60; 0 on Ctrl-C',
  },
  drainSeconds: {
    type: seconds,
    byDefault: '5',
    help: 'seconds over which subscribers are disconnected when the gateway stops, at most 60',
  },
} as const satisfies Declarations

/** Every declaration by heading, in the order of the help. */
export const declarationsByHeading = {
  Listening: listening,
  Database: database,
  'Submissions and tokens': tokens,
  Ledger: ledger,
  'Access and web pages': access,
  Limits: clientSettings,
  'Metrics and log': watching,
  Stopping: stopping,
} as const

/** Every declaration by name. */
export const declarations = {
  ...listening,
  ...database,
  ...tokens,
  ...ledger,
  ...access,
  ...clientSettings,
  ...watching,
  ...stopping,
} as const
