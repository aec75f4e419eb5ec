import { defaultLimits } from './api/limits.ts'
import { clientSettings } from './client-settings.ts'
import { logLevels } from './lib/log.ts'

/** Every setting of a gateway, as the operator knows it; `config.ts` reads them. */

/** One setting as `--help` and the README show it. */
export interface Setting {
  readonly variable: string
  /** Without dashes; `undefined` for a secret, because every user of the machine can read a command line. */
  readonly flag: string | undefined
  /** The placeholder of the value in the help; empty where the flag takes none. */
  readonly value: string
  readonly help: string
  /** `undefined` where the help says what happens without it. */
  readonly byDefault: string | undefined
}

/** Who may submit blocks. */
export const submitModes = ['open', 'closed', 'token'] as const
/** Where the ledger comes from. */
export const ledgerKinds = ['embedded', 'upstream'] as const
/** The values of a switch. */
export const switches = ['on', 'off'] as const

/** Bytes of a shared secret: a key of HS256 has at least as many bits as its hash (RFC 7518 3.2). */
export const leastSecretBytes = 32

/** Processes behind one port: more would wait for each other. */
export const mostWorkers = 64

/** Every setting, in the order of the help. */
export const settings = {
  host: {
    variable: 'HOST',
    flag: 'host',
    value: 'ADDRESS',
    byDefault: '127.0.0.1',
    help: 'address to listen on',
  },
  port: {
    variable: 'PORT',
    flag: 'port',
    value: 'NUMBER',
    byDefault: '4000',
    help: 'port to listen on; 0 takes any free one',
  },
  database: {
    variable: 'DATABASE_URL',
    flag: 'database',
    value: 'URL',
    byDefault: 'file:./data/ledger-gateway.db',
    help: 'SQLite file, its path from the current folder, or postgresql://USER:PASSWORD@HOST:PORT/DATABASE',
  },
  noCreate: {
    variable: 'NO_CREATE',
    flag: 'no-create',
    // The flag alone means on.
    value: '',
    byDefault: 'off',
    help: 'on begins no new ledger, and refuses a database that holds none',
  },
  wakeDatabase: {
    variable: 'WAKE_DATABASE_URL',
    flag: undefined,
    value: 'URL',
    byDefault: undefined,
    help: 'PostgreSQL with a pooler: URL past the pooler, for notifications of other processes; DATABASE_URL by default',
  },
  workers: {
    variable: 'WORKERS',
    flag: 'workers',
    value: 'NUMBER',
    byDefault: '1',
    help: `processes that serve the port together, at most ${mostWorkers}; more than one needs PostgreSQL`,
  },
  submit: {
    variable: 'SUBMIT',
    flag: 'submit',
    value: 'MODE',
    byDefault: 'open',
    help: 'who may submit blocks: open, closed or token',
  },
  keyFile: {
    variable: 'KEY_FILE',
    flag: 'key-file',
    value: 'PATH',
    byDefault: undefined,
    help: 'key that tokens are signed with, made when missing; beside the database by default',
  },
  jwtSecret: {
    variable: 'JWT_SECRET',
    flag: undefined,
    value: 'TEXT',
    byDefault: undefined,
    help: `shared secret of at least ${leastSecretBytes} bytes for HS256 tokens, in place of the key file`,
  },
  jwtIssuer: {
    variable: 'JWT_ISSUER',
    flag: 'jwt-issuer',
    value: 'TEXT',
    byDefault: undefined,
    help: 'the issuer (iss) that a token must have; any by default',
  },
  jwtAudience: {
    variable: 'JWT_AUDIENCE',
    flag: 'jwt-audience',
    value: 'TEXT',
    byDefault: undefined,
    help: 'the audience (aud) that a token must name; any by default',
  },
  jwtJwks: {
    variable: 'JWT_JWKS',
    flag: 'jwt-jwks',
    value: 'PLACE',
    byDefault: undefined,
    help: 'JSON Web Key Set of another issuer of tokens, a file or an https URL, beside the key; needs JWT_ISSUER and JWT_AUDIENCE',
  },
  jwtRequireExpiry: {
    variable: 'JWT_REQUIRE_EXPIRY',
    flag: 'jwt-require-expiry',
    value: 'SWITCH',
    byDefault: 'off',
    help: 'on refuses tokens without an end (exp)',
  },
  jwtMaxAge: {
    variable: 'JWT_MAX_AGE',
    flag: 'jwt-max-age',
    value: 'TIME',
    byDefault: undefined,
    help: 'how long after its issue (iat) a token is taken at most, like 30m, 12h or 1d; unbounded by default',
  },
  jwtLeeway: {
    variable: 'JWT_LEEWAY',
    flag: 'jwt-leeway',
    value: 'NUMBER',
    byDefault: '0',
    help: 'by how many seconds the clock of an issuer may be off, at most 300',
  },
  jwtRevocations: {
    variable: 'JWT_REVOCATIONS',
    flag: 'jwt-revocations',
    value: 'PATH',
    byDefault: undefined,
    help: 'file of revoked tokens, "jti ID" or "sub NAME" a line, followed while the gateway runs',
  },
  ledger: {
    variable: 'LEDGER',
    flag: 'ledger',
    value: 'KIND',
    byDefault: 'embedded',
    help: 'where the ledger comes from: embedded (kept by this program) or upstream (followed from nodes)',
  },
  upstreamUrls: {
    variable: 'UPSTREAM_URLS',
    flag: 'upstream-urls',
    value: 'URLS',
    byDefault: undefined,
    help: 'with upstream: addresses of nodes or gateways to follow, with commas between, the preferred one first',
  },
  upstreamProofs: {
    variable: 'UPSTREAM_PROOFS',
    flag: 'upstream-proofs',
    value: 'SWITCH',
    byDefault: 'on',
    help: 'with upstream: on holds every output against its proof, which costs a request each; off skips that',
  },
  snapshot: {
    variable: 'SNAPSHOT',
    flag: 'snapshot',
    value: 'URL',
    byDefault: undefined,
    help: 'with upstream: URL of a gateway, or a file, whose snapshot a new database begins with; the genesis by default',
  },
  genesis: {
    variable: 'GENESIS_FILE',
    flag: 'genesis-file',
    value: 'PATH',
    byDefault: undefined,
    help: 'genesis of a new database; the development genesis by default',
  },
  parameters: {
    variable: 'PARAMETERS_FILE',
    flag: 'parameters-file',
    value: 'PATH',
    byDefault: undefined,
    help: 'protocol parameters of a new database, or an answer of /api/core/v3/info, as JSON; the development network by default',
  },
  issuerKey: {
    variable: 'ISSUER_KEY',
    flag: undefined,
    value: 'HEX',
    byDefault: undefined,
    help: "Ed25519 secret of the node's issuer account, 0x and 32 bytes; none for no account; the development network has its own",
  },
  issuerAccount: {
    variable: 'ISSUER_ACCOUNT',
    flag: 'issuer-account',
    value: 'ID',
    byDefault: undefined,
    help: "account id of the node's issuer account; the hash of its public key by default",
  },
  stateMemory: {
    variable: 'STATE_MEMORY',
    flag: 'state-memory',
    value: 'MB',
    byDefault: '64',
    help: 'megabytes of memory that the writer has for parts of the ledger state that it used last; the rest is read by need',
  },
  metricsPort: {
    variable: 'METRICS_PORT',
    flag: 'metrics-port',
    value: 'NUMBER',
    byDefault: undefined,
    help: 'port on which /metrics is served for Prometheus, 0 for any free one; by default it is not served',
  },
  metricsHost: {
    variable: 'METRICS_HOST',
    flag: 'metrics-host',
    value: 'ADDRESS',
    byDefault: '127.0.0.1',
    help: 'address on which /metrics is served',
  },
  slowOperation: {
    variable: 'SLOW_OPERATION_MS',
    flag: 'slow-operation-ms',
    value: 'NUMBER',
    byDefault: '1000',
    help: 'milliseconds from which on a request or an operation is logged as slow; 0 logs none',
  },
  logRetention: {
    variable: 'LOG_RETENTION',
    flag: 'log-retention',
    value: 'MILESTONES',
    byDefault: 'all',
    help: 'how many of the newest milestones the log of ledger updates keeps',
  },
  blockRetention: {
    variable: 'BLOCK_RETENTION',
    flag: 'block-retention',
    value: 'SLOTS',
    byDefault: 'all',
    help: 'how many slots blocks are kept for that carry nothing: no transaction, and no vote that is still to be counted',
  },
  trustedDocuments: {
    variable: 'TRUSTED_DOCUMENTS',
    flag: 'trusted-documents',
    value: 'PATH',
    byDefault: undefined,
    help: 'manifest of the only GraphQL documents that are answered, as JSON; all are by default',
  },
  allowedOrigins: {
    variable: 'ALLOWED_ORIGINS',
    flag: 'allowed-origins',
    value: 'ORIGINS',
    byDefault: undefined,
    help: 'origins of pages that may read answers and open WebSockets, with commas between; * for all, as on the development network, elsewhere only its own by default',
  },
  allowedHosts: {
    variable: 'ALLOWED_HOSTS',
    flag: 'allowed-hosts',
    value: 'NAMES',
    byDefault: '*',
    help: 'names by which requests may call the gateway (Host), without ports and with commas between; * for all',
  },
  explorer: {
    variable: 'EXPLORER',
    flag: 'explorer',
    value: 'SWITCH',
    byDefault: 'on',
    help: 'on shows browsers the explorer of the ledger at /; off does not',
  },
  graphiql: {
    variable: 'GRAPHIQL',
    flag: 'graphiql',
    value: 'SWITCH',
    byDefault: 'on',
    help: 'on shows an editor for queries to browsers at /graphql; off does not',
  },
  introspection: {
    variable: 'INTROSPECTION',
    flag: 'introspection',
    value: 'SWITCH',
    byDefault: 'on',
    help: 'on answers introspection of the GraphQL schema and suggests names in errors; off does neither',
  },
  maxConnections: {
    variable: 'MAX_CONNECTIONS',
    flag: 'max-connections',
    value: 'NUMBER',
    byDefault: String(defaultLimits.connections),
    help: 'WebSockets and event streams that may be open at once',
  },
  maxSubscriptions: {
    variable: 'MAX_SUBSCRIPTIONS',
    flag: 'max-subscriptions',
    value: 'NUMBER',
    byDefault: String(defaultLimits.subscriptions),
    help: 'subscriptions that may be open on all of them together',
  },
  ...clientSettings,
  drainDelay: {
    variable: 'DRAIN_DELAY',
    flag: 'drain-delay',
    value: 'NUMBER',
    byDefault: '5',
    help: 'how many seconds a stopping gateway reports that it is not ready and goes on serving, at most 60; 0 on Ctrl-C',
  },
  drainSeconds: {
    variable: 'DRAIN_SECONDS',
    flag: 'drain-seconds',
    value: 'NUMBER',
    byDefault: '5',
    help: 'over how many seconds subscribers are disconnected when the gateway stops, at most 60',
  },
  logLevel: {
    variable: 'LOG_LEVEL',
    flag: 'log-level',
    value: 'LEVEL',
    byDefault: 'info',
    help: `events written to standard error: ${logLevels.join(', ')}`,
  },
} as const satisfies Readonly<Record<string, Setting>>

/** The settings that say where the key of tokens is, and what a token must name. */
export const keySettings = [
  settings.database,
  settings.keyFile,
  settings.jwtSecret,
  settings.jwtIssuer,
  settings.jwtAudience,
] as const
