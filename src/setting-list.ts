import { clientSettings } from './client-settings.ts'
import { logLevels } from './lib/log.ts'
import {
  accountId,
  bareSwitch,
  databaseUrl,
  duration,
  ed25519Secret,
  hostNames,
  keySetSource,
  nodeUrlOrFile,
  nodeUrls,
  oneOf,
  onOrOff,
  origins,
  postgresqlUrl,
  postgresqlUrls,
  retention,
  sharedSecret,
  type ValueType,
  whole,
  words,
} from './setting-values.ts'

/** Every setting of a gateway, said once: the readers, the help, `docs/settings.md` and its JSON Schema come from here. */

/** What is said of one setting. Its key is its name in a settings file; `METRICS_PORT` and `--metrics-port` come from it. */
export interface Declaration {
  readonly type: ValueType<unknown>
  /** The text that it has without a value. */
  readonly byDefault?: string
  /** What happens without a value, where there is no such text. */
  readonly without?: string
  /** Where the flag has another name than the variable; without dashes. */
  readonly flag?: string
  /** What it is for, in one line; code is in backticks. */
  readonly help: string
  /** What the page adds to that. */
  readonly more?: string
}

/** Declarations by name. */
export type Declarations = Readonly<Record<string, Declaration>>

/** Bytes of a shared secret: a key of HS256 has at least as many bits as its hash (RFC 7518 3.2). */
const leastSecretBytes = 32

/** Processes behind one port: more would wait for each other. */
const mostWorkers = 64

const port = whole('NUMBER', { most: 65_535 })
// The system would take none for all of them.
const address = words('ADDRESS', 'an address')
/** The path of a file, from the current folder. */
export const path = words('PATH', 'the path of a file')
const text = words('TEXT')
const seconds = whole('NUMBER', { most: 60 })

const listening = {
  configFile: {
    type: path,
    flag: 'config',
    without: 'none',
    help: 'settings file, as JSON; the environment and flags win over it',
  },
  host: { type: address, byDefault: '127.0.0.1', help: 'address to listen on' },
  port: { type: port, byDefault: '4000', help: 'port to listen on; 0 takes any free one' },
  workers: {
    type: whole('NUMBER', { least: 1, most: mostWorkers }),
    byDefault: '1',
    help: `processes that serve the port together, at most ${mostWorkers}; more than one needs PostgreSQL`,
    more: 'See [cluster.md](cluster.md).',
  },
} as const satisfies Declarations

const database = {
  databaseUrl: {
    type: databaseUrl,
    flag: 'database',
    byDefault: 'file:./data/ledger-gateway.db',
    help: 'SQLite file, its path from the current folder, or `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`',
    more: 'Several `HOST:PORT` may stand there with commas between, with `?target_session_attrs=read-write` for the one that is written ([high-availability.md](high-availability.md)).',
  },
  noCreate: {
    type: bareSwitch,
    byDefault: 'off',
    help: '`on`, or the flag alone, begins no new ledger, and refuses a database that holds none',
    more: 'Nothing is made then.',
  },
  wakeDatabaseUrl: {
    type: postgresqlUrl,
    without: '`DATABASE_URL`',
    help: 'PostgreSQL with a pooler: URL past the pooler, for notifications of other processes',
  },
  readDatabaseUrls: {
    type: postgresqlUrls,
    without: '`DATABASE_URL` alone',
    help: 'PostgreSQL with read replicas: their URLs, with commas between; queries and feeds read at one of them',
    more: 'See [high-availability.md](high-availability.md#read-replicas).',
  },
  readMaxLag: {
    type: whole('NUMBER', { least: 1, most: 3_600 }),
    byDefault: '10',
    help: 'seconds by which a read replica may be behind; one that lags more is left out',
  },
} as const satisfies Declarations

const tokens = {
  submit: {
    type: oneOf('MODE', ['open', 'closed', 'token']),
    byDefault: 'open',
    help: 'who may submit blocks: `open`, `closed` or `token`',
  },
  keyFile: {
    type: path,
    without: 'beside the database',
    help: 'key that tokens are signed with, made when missing',
    more: 'It is for EdDSA, or for ES256 where the file holds a key of P-256. A file that other users may read is refused.',
  },
  jwtSecret: {
    type: sharedSecret(leastSecretBytes),
    help: `shared secret of at least ${leastSecretBytes} bytes for HS256 tokens, in place of the key file`,
  },
  jwtIssuer: {
    type: text,
    without: 'any',
    help: 'the issuer (`iss`) that a token must have',
    more: '`ledger-gateway token` writes it.',
  },
  jwtAudience: {
    type: text,
    without: 'any',
    help: 'the audience (`aud`) that a token must name',
    more: '`ledger-gateway token` writes it.',
  },
  jwtJwks: {
    type: keySetSource,
    without: 'none',
    help: 'JSON Web Key Set of another issuer of tokens, a file or an https URL, beside the key; needs `JWT_ISSUER` and `JWT_AUDIENCE`',
    more: 'Its keys are for EdDSA or ES256: see [security.md](security.md).',
  },
  jwtRequireExpiry: {
    type: onOrOff,
    byDefault: 'off',
    help: '`on` refuses tokens without an end (`exp`)',
  },
  jwtMaxAge: {
    type: duration,
    without: 'unbounded',
    help: 'how long after its issue (`iat`) a token is taken at most, like `30m`, `12h` or `1d`',
  },
  jwtLeeway: {
    type: whole('NUMBER', { most: 300 }),
    byDefault: '0',
    help: 'by how many seconds the clock of an issuer may be off, at most 300',
  },
  jwtRevocations: {
    type: path,
    without: 'none',
    help: 'file of revoked tokens, `jti ID` or `sub NAME` a line, followed while the gateway runs',
  },
} as const satisfies Declarations

const ledger = {
  ledger: {
    type: oneOf('KIND', ['embedded', 'upstream']),
    byDefault: 'embedded',
    help: 'where the ledger comes from: `embedded` (kept by this program) or `upstream` (followed from nodes)',
    more: 'See [upstream.md](upstream.md).',
  },
  upstreamUrls: {
    type: nodeUrls,
    help: 'with `upstream`: addresses of nodes or gateways to follow, with commas between, the preferred one first',
  },
  upstreamProofs: {
    type: onOrOff,
    byDefault: 'on',
    help: 'with `upstream`: `on` holds every output against its proof, which costs a request each; `off` skips that',
  },
  snapshot: {
    type: nodeUrlOrFile,
    without: 'the genesis',
    help: 'with `upstream`: URL of a gateway, or a file of one or of iota-core, whose snapshot a new database begins with',
  },
  genesisFile: {
    type: path,
    without: 'the development genesis',
    help: 'genesis of a new database',
    more: '`{"parameters", "outputs", "credits"}` as JSON, with any number of outputs; or the snapshot that nodes of iota-core began with ([iota-core-snapshot.md](iota-core-snapshot.md)).',
  },
  parametersFile: {
    type: path,
    without: 'the development network',
    help: 'protocol parameters of a new database, or an answer of `/api/core/v3/info`, as JSON',
  },
  issuerKey: {
    type: ed25519Secret,
    without: "the development network's",
    help: "Ed25519 secret of the node's issuer account, 0x and 32 bytes; `none` for no account",
  },
  issuerAccount: {
    type: accountId,
    without: 'the hash of its public key',
    help: "account id of the node's issuer account",
  },
  stateMemory: {
    type: whole('MB'),
    byDefault: '64',
    help: 'megabytes of memory that the writer has for parts of the ledger state that it used last; the rest is read by need',
  },
  logRetention: {
    type: retention('MILESTONES'),
    byDefault: 'all',
    help: 'how many of the newest milestones the log of ledger updates keeps',
  },
  blockRetention: {
    type: retention('SLOTS'),
    byDefault: 'all',
    help: 'how many slots blocks are kept for that carry nothing: no transaction, and no vote that is still to be counted',
    more: 'A candidacy, or a vote of a validator in this epoch or the last, is such a vote. They are kept at least for twice the greatest committable age.',
  },
} as const satisfies Declarations

const watching = {
  metricsPort: {
    type: port,
    without: 'not served',
    help: 'port on which `/metrics` is served for Prometheus, 0 for any free one',
    more: 'See [operations.md](operations.md#metrics).',
  },
  metricsHost: {
    type: address,
    byDefault: '127.0.0.1',
    help: 'address on which `/metrics` is served',
  },
  slowOperationMs: {
    type: whole('NUMBER'),
    byDefault: '1000',
    help: 'milliseconds from which on a request or an operation is logged as slow; 0 logs none',
  },
  logLevel: {
    type: oneOf('LEVEL', logLevels),
    byDefault: 'info',
    help: `events written to standard error: ${logLevels.join(', ')}`,
    more: 'One JSON line each.',
  },
} as const satisfies Declarations

const answering = {
  trustedDocuments: {
    type: path,
    without: 'all',
    help: 'manifest of the only GraphQL documents that are answered beside those of the explorer, as JSON',
    more: 'It holds on every transport: see [graphql.md](graphql.md).',
  },
  allowedOrigins: {
    type: origins,
    without: '`*` on the development network, elsewhere only its own',
    help: 'origins of pages that may read answers and open WebSockets, with commas between; `*` for all',
  },
  allowedHosts: {
    type: hostNames,
    byDefault: '*',
    help: 'names by which requests may call the gateway (`Host`), without ports and with commas between; `*` for all',
    more: 'Name them where pages of strangers could lead their own name to it (DNS rebinding).',
  },
  explorer: {
    type: onOrOff,
    byDefault: 'on',
    help: '`on` shows browsers the explorer of the ledger at `/`; `off` does not',
    more: 'See [explorer.md](explorer.md).',
  },
  graphiql: {
    type: onOrOff,
    byDefault: 'on',
    help: '`on` shows an editor for queries to browsers at `/graphql`; `off` does not',
  },
  introspection: {
    type: onOrOff,
    byDefault: 'on',
    help: '`on` answers introspection of the GraphQL schema and suggests names in errors; `off` does neither',
  },
} as const satisfies Declarations

const stopping = {
  drainDelay: {
    type: seconds,
    byDefault: '5',
    help: 'how many seconds a stopping gateway reports that it is not ready and goes on serving, at most 60; 0 on Ctrl-C',
  },
  drainSeconds: {
    type: seconds,
    byDefault: '5',
    help: 'over how many seconds subscribers are disconnected when the gateway stops, at most 60',
  },
} as const satisfies Declarations

/** Every declaration by the heading that it stands under, in the order of the help. */
export const declarationsByHeading = {
  Listening: listening,
  Database: database,
  'Submissions and tokens': tokens,
  Ledger: ledger,
  'What is answered': answering,
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
  ...answering,
  ...clientSettings,
  ...watching,
  ...stopping,
} as const
