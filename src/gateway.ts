import { setTimeout as delay } from 'node:timers/promises'
import type { AuthDeps } from './api/auth.ts'
import { readTrustedDocuments, type TrustedDocumentsInvalid } from './api/graphql/documents.ts'
import { schema } from './api/graphql/schema.ts'
import { type HttpAddress, type HttpServer, type ListenError, openHttp } from './api/http.ts'
import {
  defaultLimits,
  developmentClientLimits,
  type TransportLimits,
  usualClientLimits,
  usualLoopDelayMs,
} from './api/limits.ts'
import type { Policies } from './api/policies.ts'
import { routes } from './api/rest/routes.ts'
import { type KeyError, openSigningKey } from './api/signing-key.ts'
import type { Config } from './config.ts'
import { openChainRecordFeed } from './feed/chain-records.ts'
import { type Feed, type FeedSettings, openFeed } from './feed/open.ts'
import { createWake, type Wake } from './feed/wake.ts'
import type { MachineClock } from './lib/clock.ts'
import { guardClock } from './lib/guarded-clock.ts'
import { createListeners } from './lib/listeners.ts'
import type { Log } from './lib/log.ts'
import { ok, type Result } from './lib/result.ts'
import { programVersion } from './lib/version.ts'
import { startActivityFiller } from './node/activity-filler.ts'
import { developmentKeys } from './node/embedded/development.ts'
import { developmentNetworkName } from './node/embedded/development-parameters.ts'
import { nameOfThisProcess } from './node/lease-holder.ts'
import { type LedgerError, openLedger } from './node/open-ledger.ts'
import { startBlockPruner, startPruner } from './node/pruner.ts'
import { openSignatureChecker } from './node/signatures.ts'
import { watchSpace } from './node/space-watch.ts'
import { createStakers } from './service/accounts/stakers.ts'
import { type FaucetServices, openFaucet } from './service/faucet/faucet.ts'
import type { Faucet } from './service/faucet/faucet-requests.ts'
import type { Services } from './service/services.ts'
import { bytesPerMegabyte } from './settings.ts'
import { notifyBlockChanges } from './store/block-changes.ts'
import type { Store } from './store/contract.ts'
import { logStoreFaults } from './store/fault-log.ts'
import { openStore, type StoreError } from './store/open.ts'
import { databasePlace } from './store/url.ts'

/** The composition root: opens everything in order, and closes it in the reverse order. */

/** A running gateway. */
export interface Gateway {
  /** Of the root, without a slash at its end. */
  readonly url: string
  /** The name of the network it serves. */
  readonly network: string
  /** Whether it has a faucet. */
  readonly hasFaucet: boolean
  /** Accepts the clock of the machine as right after a leap, on the operator's word. */
  confirmClock(): void
  /** The location of a database that held no ledger before; `undefined` for one that held a ledger. */
  readonly newLedgerIn: string | undefined
  /**
   * Reports that it is not ready and goes on serving for `DRAIN_DELAY`: a load balancer that checks meanwhile sends the next
   * requests elsewhere.
   */
  announceStop(): Promise<void>
  close(): Promise<void>
}

/** What the process gives a gateway. */
export interface GatewayDeps {
  readonly clock: MachineClock
  readonly log: Log
  /** Wakes the feeds after a commit; a new one by default. */
  readonly wake?: Wake
  /** How the feed behaves; by default as `defaultFeedSettings` says. */
  readonly feed?: Partial<FeedSettings>
}

/** Why a gateway does not start. */
export type StartError = KeyError | StoreError | LedgerError | ListenError | TrustedDocumentsInvalid

/** How long requests under way may take when the gateway closes. */
const closeGraceMs = 3_000

/** The most signatures that OpenSSL refused and that wait for the second check: about a second of work. */
const doubtfulSignatures = 1_000

/** Opens a gateway. When a step fails or throws, the steps before it are undone. */
export async function openGateway(
  config: Config,
  deps: GatewayDeps,
): Promise<Result<Gateway, StartError>> {
  const opened: (() => Promise<void>)[] = []
  const close = async () => {
    const failures: unknown[] = []
    for (const closeOne of opened.toReversed()) {
      await closeOne().catch((failure: unknown) => failures.push(failure))
    }
    // Every resource is closed, also when closing another one fails.
    if (failures.length > 0) throw failures[0]
  }
  try {
    const gateway = await openInOrder(config, deps, opened)
    if (gateway.ok) return ok({ ...gateway.value, close })
    await close()
    return gateway
  } catch (failure) {
    // An open resource would keep the process from ending.
    await close()
    throw failure
  }
}

/** Opens one after the other, and leaves in `opened` how each is closed. */
async function openInOrder(
  config: Config,
  deps: GatewayDeps,
  opened: (() => Promise<void>)[],
): Promise<Result<Omit<Gateway, 'close'>, StartError>> {
  const { log, wake = createWake(), feed: feedSettings } = deps
  const trusted = await trustedDocumentsOf(config)
  if (!trusted.ok) return trusted
  const database = await openWatchedStore(config, { log, wake })
  if (!database.ok) return database
  const { store, blockChanges } = database.value
  opened.push(store.close)
  const isNew = (await store.read.network()) === undefined
  const newLedgerIn = isNew ? databasePlace(config.databaseUrl.reveal()) : undefined
  if (isNew) log.info('ledger-begins', { database: newLedgerIn })
  const signatures = openSignatureChecker({ queueLimit: doubtfulSignatures })
  opened.push(signatures.close)
  // The clock for slots and blocks. Tokens and the log use the clock of the machine.
  const clock = guardClock(deps)
  opened.push(async () => clock.close())
  const holder = nameOfThisProcess()
  const ledgerDeps = { log, clock, store, signatures, holder, onCommitted: wake.notify }
  const ledger = await openLedger(config, ledgerDeps)
  if (!ledger.ok) return ledger
  const source = ledger.value
  opened.push(source.close)
  // Opened only now, for this may create the key file: a refused start has written nothing.
  const key = await openSigningKey(config.signing)
  if (!key.ok) return key
  const services = await openServices(
    config,
    { store, source, signatures, clock, wake, log, feedSettings },
    opened,
  )
  blockChanges.add(services.feed.blocks.notify)
  const auth = { key: key.value, clock: deps.clock }
  const network = services.parameters.networkName
  const limits = limitsOf(config, network)
  const policies = policiesOf(config, network)
  const { proxies } = config
  const allowed = { limits, policies, proxies }
  const transportDeps = { services, auth, ...allowed, trustedDocuments: trusted.value, log }
  const http = await openTransports(transportDeps, config)
  if (!http.ok) return http
  opened.push(() =>
    http.value.close({ windowMs: config.drainSeconds * 1_000, graceMs: closeGraceMs }),
  )
  const hasFaucet = services.faucet !== undefined
  const announceStop = async () => {
    http.value.announceStop()
    await delay(config.drainDelaySeconds * 1_000)
  }
  const { confirm: confirmClock } = clock
  return ok({ url: http.value.url, network, hasFaucet, newLedgerIn, confirmClock, announceStop })
}

/** Anybody's page may play on a development network; elsewhere the operator names those that may read. */
function policiesOf(config: Config, network: string): Policies {
  const { allowedOrigins, allowedHosts: hosts, hasGraphiql, hasIntrospection } = config
  const usual = network === developmentNetworkName ? 'all' : new Set<string>()
  return { origins: allowedOrigins ?? usual, hosts, hasGraphiql, hasIntrospection }
}

function megabytes(count: number | undefined): number | undefined {
  return count === undefined ? undefined : count * bytesPerMegabyte
}

function limitsOf(config: Config, network: string): TransportLimits {
  const { maxConnections: connections, maxSubscriptions: subscriptions } = config
  const isDevelopment = network === developmentNetworkName
  const usual = isDevelopment ? developmentClientLimits : usualClientLimits
  const client = {
    costPerSecond: config.clientCost ?? usual.costPerSecond,
    connections: config.clientConnections ?? usual.connections,
    subscriptions: config.clientSubscriptions ?? usual.subscriptions,
    payloadsPerDay: config.clientPayloads ?? usual.payloadsPerDay,
    bytesPerDay: megabytes(config.clientMegabytes) ?? usual.bytesPerDay,
  }
  const usualDelay = isDevelopment ? defaultLimits.loopDelayMs : usualLoopDelayMs
  const { maxLoopDelay: loopDelayMs = usualDelay } = config
  const minFreeDisk = config.minFreeDisk * bytesPerMegabyte
  const maxDatabaseSize = megabytes(config.maxDatabaseSize)
  const ofAll = { connections, subscriptions, loopDelayMs, minFreeDisk, maxDatabaseSize }
  return { ...defaultLimits, ...ofAll, client }
}

async function trustedDocumentsOf({ trustedDocumentsFile }: Config) {
  return trustedDocumentsFile === undefined
    ? ok(undefined)
    : readTrustedDocuments(trustedDocumentsFile)
}

/** Opens the store, whose faults are logged and whose writes, here or by another process, wake who waits for them. */
async function openWatchedStore(config: Config, { log, wake }: { log: Log; wake: Wake }) {
  const database = await openStore({
    url: config.databaseUrl.reveal(),
    wakeUrl: config.wakeUrl?.reveal(),
    log,
    mayCreate: config.mayCreate,
  })
  if (!database.ok) return database
  const blockChanges = createListeners<void>()
  const store = notifyBlockChanges(logStoreFaults(database.value, log), blockChanges.notify)
  // The store ends this subscription when it is closed.
  store.listen((notification) => {
    if (notification.topic === 'LOG_GREW') wake.notify(notification.seq)
    blockChanges.notify()
  })
  return ok({ store, blockChanges })
}

interface ServicesDeps extends Pick<Services, 'source' | 'signatures' | 'clock'> {
  readonly store: Store
  readonly wake: Wake
  readonly log: Log
  readonly feedSettings: Partial<FeedSettings> | undefined
}

/** Opens what the services share besides the ledger: the feeds, the pruner and the faucet. */
async function openServices(
  config: Config,
  { wake, log, feedSettings, ...shared }: ServicesDeps,
  opened: (() => Promise<void>)[],
): Promise<Services> {
  const { store, source } = shared
  const { parameters } = source.network
  const feed = await openFeed({ reader: store.read, parameters, wake, log }, feedSettings)
  opened.push(feed.close)
  opened.push(...pruners(config, { store, source, tail: feed.tail, log }))
  const filler = startActivityFiller({
    write: store.write,
    tail: feed.tail,
    log,
    term: () => {
      const { role, term } = source.status()
      return role === 'WRITER' ? term : undefined
    },
  })
  opened.push(filler.close)
  const space = await watchSpace({ store, log }, limitsOf(config, parameters.networkName))
  opened.push(space.close)
  const chainRecords = openChainRecordFeed({ reader: store.read, log })
  opened.push(async () => chainRecords.close())
  const faucet = faucetOf({ ...shared, space }, log)
  if (faucet !== undefined) opened.push(faucet.close)
  return {
    ...shared,
    space,
    parameters,
    feed,
    chainRecords,
    stakers: createStakers(store.read),
    // A log that this process alone writes has no newer rows elsewhere; one that a node writes may.
    mayLag: store.isShared || source.node !== undefined,
    submissionPolicy: config.submit,
    version: programVersion(),
    faucet,
  }
}

interface PrunersDeps extends Pick<Services, 'source'> {
  readonly store: Store
  readonly tail: Feed['tail']
  readonly log: Log
}

/** Starts what deletes old rows, where the operator asks for it; gives how each is closed. */
function pruners(
  { logRetention, blockRetention }: Config,
  { store, source, tail, log }: PrunersDeps,
): (() => Promise<void>)[] {
  const isWriting = () => source.status().role === 'WRITER'
  const deps = { write: store.write, tail, log, isWriting }
  const { parameters } = source.network
  const tip = () => tail.tip().slot
  return [
    ...(logRetention === 'all' ? [] : [startPruner(deps, logRetention)]),
    ...(blockRetention === 'all'
      ? []
      : [startBlockPruner(deps, { slots: blockRetention, tip, parameters })]),
  ].map(({ close }) => close)
}

/** The development network has a faucet, beside its ledger: two of them would spend the same outputs. */
function faucetOf(services: FaucetServices, log: Log): Faucet | undefined {
  const { node, network } = services.source
  const { networkName } = network.parameters
  if (networkName !== developmentNetworkName || node !== undefined) return undefined
  return openFaucet(services, { key: developmentKeys().faucet, log })
}

/** What the transports need. */
export interface TransportDeps {
  readonly services: Services
  readonly auth: AuthDeps
  readonly limits: TransportLimits
  readonly log: Log
}

/** Opens the transports alone (GraphQL, WebSocket, REST) on services that the caller made. */
export function openTransports(
  deps: TransportDeps,
  { host, port }: HttpAddress,
): Promise<Result<HttpServer, ListenError>> {
  return openHttp({ ...deps, schema, routes }, { host, port })
}
