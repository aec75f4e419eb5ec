import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TrustedDocuments } from '../../src/api/graphql/execution/documents.ts'
import { defaultLimits } from '../../src/api/limits.ts'
import { openSigningKey, type SigningKey } from '../../src/api/tokens/signing-key.ts'
import { issueToken, type Scope } from '../../src/api/tokens/token.ts'
import { type Environment, parseConfig } from '../../src/config.ts'
import { type GatewayDeps, openGateway, openTransports } from '../../src/gateway.ts'
import { type Clock, type MachineClock, nowMs, systemClock } from '../../src/lib/clock.ts'
import type { Result } from '../../src/lib/result.ts'
import type { Services } from '../../src/service/services.ts'
import { distribute, isInShards } from './citus.ts'
import { defaultDatabase } from './databases.ts'
import { createMemoryLog } from './memory-log.ts'
import { until } from './until.ts'

/** A running gateway for a test: the real program on a temporary database and a free port. */
export interface TestGateway {
  /** The URL of the root, without a trailing slash. */
  readonly url: string
  /** The URL of the database. */
  readonly databaseUrl: string
  /** The URL of the metrics, if `METRICS_PORT` is set. */
  readonly metricsUrl: string
  /** The key that signs the tokens. */
  readonly key: SigningKey
  /** Every line of the log, from level `debug` on. */
  readonly logged: readonly string[]
  /** Issues a token that is valid for an hour. */
  token(...scopes: Scope[]): Promise<string>
  /** Makes the gateway report that it is not ready; it continues to serve. */
  announceStop(): Promise<void>
  /** Confirms that the clock is correct, as an operator does. */
  confirmClock(): void
  close(): Promise<void>
}

/** The options of a gateway for a test. */
export interface TestGatewayOptions {
  /** Settings by variable. They override the defaults for tests: a free port, and all files in a temporary folder. */
  readonly env?: Environment
  readonly clock?: MachineClock
  /** The wake-up, the settings of the feed, and the signal that aborts the start; those of the program by default. */
  readonly deps?: Pick<GatewayDeps, 'wake' | 'feed' | 'stopping'>
}

/** Starts a gateway. */
export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const { env = {}, clock = systemClock, deps = {} } = options
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-'))
  const database = await defaultDatabase().create()
  const KEY_FILE = join(folder, 'test.key')
  const config = unwrap(
    parseConfig({ PORT: '0', DATABASE_URL: database.url, KEY_FILE, ...env }, []),
  )
  const { log, lines: logged } = createMemoryLog(clock)
  const gateway = unwrap(await openGateway(config, { clock, log, ...deps }))
  if (config.databaseUrl.reveal() === database.url && isInShards(database.url)) {
    await distribute(database.url)
    // The gateway serves meanwhile. Distributing takes the lease, so the gateway becomes the writer again in a new term.
    const role = async () => (await (await fetch(`${gateway.url}/health/ready`)).json()).role
    await until(async () => (await role()) === 'writer')
  }
  const key = unwrap(await openSigningKey(config.signing))
  return {
    url: gateway.url,
    metricsUrl: gateway.metricsUrl ?? '',
    databaseUrl: config.databaseUrl.reveal(),
    key,
    logged,
    token: (...scopes) => tokenOf(key, clock, scopes),
    announceStop: gateway.announceStop,
    confirmClock: gateway.confirmClock,
    close: async () => {
      await gateway.close()
      await database.remove()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Only the transports of a gateway, on services that the test provides. */
export interface TestTransports
  extends Omit<TestGateway, 'databaseUrl' | 'metricsUrl' | 'announceStop' | 'confirmClock'> {
  /** Makes the transports report that they are not ready; they continue to serve. */
  announceStop(): void
  /** Closes the transports, and ends the feeds over `windowMs`. */
  drain(windowMs: number): Promise<void>
}

/** Starts the transports. */
export async function startTransports(
  services: Services,
  limits = defaultLimits,
  trustedDocuments?: TrustedDocuments,
): Promise<TestTransports> {
  const { clock } = services
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-'))
  const key = unwrap(await openSigningKey({ kind: 'file', path: join(folder, 'test.key') }))
  const { log, lines: logged } = createMemoryLog(clock)
  const address = { host: '127.0.0.1', port: 0 }
  const auth = { key, clock }
  const deps = { services, auth, limits, trustedDocuments, log }
  const http = unwrap(await openTransports(deps, address))
  return {
    url: http.url,
    key,
    logged,
    token: (...scopes) => tokenOf(key, clock, scopes),
    announceStop: http.announceStop,
    drain: (windowMs) => http.close({ windowMs, graceMs: 1_000 }),
    close: async () => {
      await http.close({ windowMs: 0, graceMs: 0 })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function tokenOf(key: SigningKey, clock: Clock, scopes: readonly Scope[]): Promise<string> {
  return issueToken(key, {
    subject: 'test',
    scopes,
    lifetimeSeconds: 3_600,
    nowMs: nowMs(clock),
  })
}

function unwrap<T>(result: Result<T, object>): T {
  if (!result.ok) throw new Error(`unexpected error: ${JSON.stringify(result.error)}`)
  return result.value
}
