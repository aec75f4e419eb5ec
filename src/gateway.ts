import { setTimeout as delay } from 'node:timers/promises'
import {
  readTrustedDocuments,
  type TrustedDocuments,
  type TrustedDocumentsInvalid,
} from './api/graphql/execution/documents.ts'
import { schema } from './api/graphql/schema.ts'
import { type HttpDeps, type HttpServer, type ListenError, openHttp } from './api/http/http.ts'
import { createObserver } from './api/observer.ts'
import { routes } from './api/rest/routes.ts'
import type { AuthDeps } from './api/tokens/auth.ts'
import { openTokens } from './api/tokens/open-tokens.ts'
import type { KeyError } from './api/tokens/signing-key.ts'
import type { TokenFileUnusable } from './api/tokens/watched-file.ts'
import type { Config } from './config.ts'
import { openChainRecordFeed } from './feed/chain-records.ts'
import { type CommitMarks, createCommitMarks } from './feed/commit-marks.ts'
import { type Feed, type FeedSettings, openFeed } from './feed/open.ts'
import { createWake, type Wake } from './feed/wake.ts'
import type { MachineClock } from './lib/clock.ts'
import { guardClock } from './lib/guarded-clock.ts'
import type { ListenAddress } from './lib/listen.ts'
import type { Log } from './lib/log.ts'
import { ok, type Result } from './lib/result.ts'
import { programVersion } from './lib/version.ts'
import type { Metrics } from './metrics/metrics.ts'
import { type MetricsCannotListen, openMetricsServer } from './metrics/server.ts'
import { startActivityFiller } from './node/activity-filler.ts'
import { developmentKeys } from './node/embedded/development.ts'
import { developmentNetworkName } from './node/embedded/development-parameters.ts'
import type { GenesisFileInvalid } from './node/genesis-file.ts'
import { nameOfThisProcess } from './node/lease-holder.ts'
import { type LedgerError, openLedger, planGenesis } from './node/open-ledger.ts'
import { startPartitionCreator } from './node/partition-creator.ts'
import { startBlockPruner, startPruner } from './node/pruner.ts'
import { openSignatureChecker, type SignatureChecker } from './node/signatures.ts'
import { watchSpace } from './node/space-watch.ts'
import { createStakers } from './service/accounts/stakers.ts'
import { createChangeCache } from './service/blocks/change-cache.ts'
import { type FaucetServices, openFaucet } from './service/faucet/faucet.ts'
import type { Faucet } from './service/faucet/faucet-requests.ts'
import type { Services } from './service/services.ts'
import type { Store } from './store/contract.ts'
import type { StoreError } from './store/open.ts'
import { databaseLocation } from './store/url.ts'
import { explorerOf, limitsOf, policiesOf } from './transport-settings.ts'
import { openWatchedStore } from './watched-store.ts'

/** The composition root: opens everything in order, and closes it in the reverse order. */

export interface Gateway {
  /** URL of the root, without a trailing slash. */
  readonly url: string
  /** Name of the network that the gateway serves. */
  readonly network: string
  /** URL of the metrics; `undefined` if they are not served. */
  readonly metricsUrl?: string | undefined
  /** The given log; if metrics are served, they count its events. */
  readonly log: Log
  readonly hasFaucet: boolean
  /** Accepts the clock of the machine after a jump, because the operator confirms that it is correct. */
  confirmClock(): void
  /** Location of the database if it held no ledger before; otherwise `undefined`. */
  readonly newLedgerIn: string | undefined
  /**
   * Reports that the gateway is not ready, and continues to serve for `DRAIN_DELAY`. A load balancer that checks during that
   * time sends the next requests elsewhere.
   */
  announceStop(): Promise<void>
  close(): Promise<void>
}

export interface GatewayDeps {
  readonly clock: MachineClock
  readonly log: Log
  /** Wakes the feeds after a commit; a new one by default. */
  readonly wake?: Wake
  /** Aborts a start that takes long. */
  readonly stopping?: AbortSignal
  /** Settings of the feed; `defaultFeedSettings` by default. */
  readonly feed?: Partial<FeedSettings>
  /** Receives the metrics of a worker process, which the first process serves. */
  readonly metricsOf?: MetricsConsumer | undefined
}

/** Receives the metrics of one process. */
export interface MetricsConsumer {
  /** Value of the label `worker` of these metrics. */
  readonly worker: string
  offer(read: () => Promise<string>): void
}

/** Reasons why a gateway does not start. */
export type StartError =
  | KeyError
  | TokenFileUnusable
  | StoreError
  | GenesisFileInvalid
  | LedgerError
  | ListenError
  | MetricsCannotListen
  | TrustedDocumentsInvalid

/** Milliseconds that requests in progress may still take when the gateway closes. */
const closeGraceMs = 3_000

/** Maximum number of signatures that the fast check refused and that are queued for the second check: about a second of work. */
const maxQueuedSignatures = 1_000

/** Opens a gateway. When a step fails or throws, everything that was opened before it is closed. */
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
    // Every resource is closed, even when closing another one fails.
    if (failures.length > 0) throw failures[0]
  }
  try {
    const gateway = await openInOrder(config, deps, opened)
    if (gateway.ok) return ok({ ...gateway.value, close })
    await closeAfter(close, deps.log)
    return gateway
  } catch (failure) {
    // An open resource would keep the process alive.
    await closeAfter(close, deps.log)
    throw failure
  }
}

/** Closes after a failed start. A failure of closing is logged, because the caller reports why the start failed. */
async function closeAfter(close: () => Promise<void>, log: Log): Promise<void> {
  await close().catch((error: unknown) => log.error('close-failed', { error }))
}

/** Opens all resources one after the other, and adds the function that closes each to `opened`. */
async function openInOrder(
  config: Config,
  deps: GatewayDeps,
  opened: (() => Promise<void>)[],
): Promise<Result<Omit<Gateway, 'close'>, StartError>> {
  const { wake = createWake(), feed: feedSettings, stopping } = deps
  const openedMetrics = await openMetrics(config, deps)
  if (!openedMetrics.ok) return openedMetrics
  const metrics = openedMetrics.value
  if (metrics !== undefined) opened.push(metrics.close)
  const log = metrics?.log ?? deps.log
  const commits = createCommitMarks(metrics?.meters.delivered ?? (() => {}))
  const trusted = await trustedDocumentsOf(config)
  if (!trusted.ok) return trusted
  const genesis = await planGenesis(config, deps.clock)
  if (!genesis.ok) return genesis
  const tokens = await openTokens(config, { clock: deps.clock, log })
  if (!tokens.ok) return tokens
  opened.push(async () => tokens.value.close())
  const onCall = metrics?.meters.storeCall
  const database = await openWatchedStore(config, { log, wake, commits, onCall, stopping })
  if (!database.ok) return database
  const { store, onCommitted, blockChanges, replicated } = database.value
  opened.push(replicated?.close ?? store.close)
  const newLedgerIn = await placeOfNewLedger(config, store, log)
  // The explorer is read before the ledger opens: a writer that catches up delays hundreds of small steps on the event loop.
  const explorer = await explorerOf(config, log)
  const signatures = openSignatureChecker({ queueLimit: maxQueuedSignatures })
  opened.push(signatures.close)
  // This clock is for slots and blocks. Tokens and the log use the clock of the machine.
  const clock = guardClock({ clock: deps.clock, log })
  opened.push(async () => clock.close())
  const holder = nameOfThisProcess()
  const times = metrics?.meters
  const ledgerDeps = { log, clock, store, signatures, holder, onCommitted, times, stopping }
  const ledger = await openLedger(config, ledgerDeps, genesis.value)
  if (!ledger.ok) return ledger
  const source = ledger.value
  opened.push(source.close)
  const auth = await tokens.value.auth()
  if (!auth.ok) return auth
  await replicated?.begin()
  const serving = replicated?.serving ?? store
  const services = await openServices(
    config,
    { store, serving, source, signatures, clock, wake, commits, log, feedSettings },
    opened,
  )
  blockChanges.add(services.feed.blocks.notify)
  const shared = {
    services,
    store,
    signatures,
    auth: auth.value,
    trustedDocuments: trusted.value,
    log,
  }
  const servers = await openServers(config, { ...shared, explorer, metrics }, opened)
  if (!servers.ok) return servers
  const http = servers.value
  const hasFaucet = services.faucet !== undefined
  const announceStop = async () => {
    http.announceStop()
    await delay(config.drainDelay * 1_000)
  }
  const { confirm: confirmClock } = clock
  const { networkName: network } = services.parameters
  const { url } = http
  const metricsUrl = metrics?.url
  return ok({ url, network, metricsUrl, log, hasFaucet, newLedgerIn, confirmClock, announceStop })
}

/** Logs that the database holds no ledger, and returns its location then. */
async function placeOfNewLedger(
  { databaseUrl }: Config,
  store: Store,
  log: Log,
): Promise<string | undefined> {
  if ((await store.read.network()) !== undefined) return undefined
  const database = databaseLocation(databaseUrl.reveal())
  log.info('ledger-begins', { database })
  return database
}

interface ServersDeps {
  readonly services: Services
  readonly store: Store
  readonly signatures: SignatureChecker
  readonly auth: AuthDeps
  readonly trustedDocuments: TrustedDocuments | undefined
  readonly explorer: Awaited<ReturnType<typeof explorerOf>>
  readonly metrics: ServedMetrics | undefined
  readonly log: Log
}

/** Opens the transports, and adds the gauges to the metrics. */
async function openServers(
  config: Config,
  { store, signatures, explorer, metrics, ...shared }: ServersDeps,
  opened: (() => Promise<void>)[],
): Promise<Result<HttpServer, ListenError>> {
  const { services, log } = shared
  const network = services.parameters.networkName
  const limits = limitsOf(config, network)
  const policies = policiesOf(config, network)
  const { slowOperationMs: slowMs, trustProxy: proxies } = config
  const observer = createObserver({ log, slowMs, meters: metrics?.meters })
  const http = await openTransports(
    { ...shared, limits, policies, proxies, explorer, observer },
    config,
  )
  if (!http.ok) return http
  opened.push(() =>
    http.value.close({ windowMs: config.drainSeconds * 1_000, graceMs: closeGraceMs }),
  )
  const { load: transports, isStopping } = http.value
  metrics?.addGauges({ services, store, signatures, transports, isStopping })
  // The gauges read what closes next, so the metrics close before it.
  if (metrics !== undefined) opened.push(metrics.close)
  return http
}

/** The metrics, and the URL at which this process serves them; a worker process does not serve its own. */
interface ServedMetrics extends Metrics {
  readonly url?: string
  /** The log of the gateway, whose events are counted. */
  readonly log: Log
  close(): Promise<void>
}

/** Serves the metrics from the first step on: a start that migrates a database or waits for a node is in them too. */
async function openMetrics(
  { metrics: address }: Config,
  { log: ownLog, metricsOf }: GatewayDeps,
): Promise<Result<ServedMetrics | undefined, MetricsCannotListen>> {
  if (address === undefined) return ok(undefined)
  const { createMetrics } = await import('./metrics/metrics.ts')
  const metrics = createMetrics(metricsOf?.worker)
  const log = metrics.countEvents(ownLog)
  if (metricsOf !== undefined) {
    metricsOf.offer(metrics.read)
    return ok({ ...metrics, log, close: async () => {} })
  }
  const server = await openMetricsServer({ ...metrics, log }, address)
  if (!server.ok) return server
  log.info('metrics-served', { url: server.value.url })
  return ok({ ...metrics, ...server.value, log })
}

async function trustedDocumentsOf({ trustedDocuments }: Config) {
  return trustedDocuments === undefined ? ok(undefined) : readTrustedDocuments(trustedDocuments)
}

interface ServicesDeps extends Pick<Services, 'source' | 'signatures' | 'clock'> {
  readonly store: Store
  /** Store that requests and feeds read from: the primary or its replicas. */
  readonly serving: Store
  readonly wake: Wake
  readonly commits: CommitMarks
  readonly log: Log
  readonly feedSettings: Partial<FeedSettings> | undefined
}

/** Opens the feeds, the pruners and the faucet, which the services share besides the ledger. */
async function openServices(
  config: Config,
  { store, serving, wake, commits, log, feedSettings, ...others }: ServicesDeps,
  opened: (() => Promise<void>)[],
): Promise<Services> {
  const shared = { ...others, store: { ...serving, write: store.write } }
  const { source } = others
  const { parameters } = source.network
  const { read } = serving
  const feedDeps = { reader: read, parameters, wake, commits, log }
  const feed = await openFeed(feedDeps, feedSettings)
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
  const chainRecords = openChainRecordFeed({ reader: read, log })
  opened.push(async () => chainRecords.close())
  const faucet = faucetOf({ ...shared, store, space }, log)
  if (faucet !== undefined) opened.push(faucet.close)
  return {
    ...shared,
    space,
    parameters,
    feed,
    chainRecords,
    stakers: createStakers(read),
    changeCache: createChangeCache(),
    // If this process alone writes the log, no other server has newer rows. A node or a shared database may have them.
    mayLag: store.isShared || source.node !== undefined,
    submissionPolicy: config.submit,
    version: programVersion(),
    faucet,
    isDevelopment: parameters.networkName === developmentNetworkName,
  }
}

interface PrunersDeps extends Pick<Services, 'source'> {
  readonly store: Store
  readonly tail: Feed['tail']
  readonly log: Log
}

/** Starts the jobs that create partitions for new rows and delete old rows as configured; returns the functions that close them. */
function pruners(
  { logRetention, blockRetention }: Config,
  { store, source, tail, log }: PrunersDeps,
): (() => Promise<void>)[] {
  const isWriting = () => source.status().role === 'WRITER'
  const deps = { write: store.write, tail, log, isWriting }
  const { parameters } = source.network
  const tip = () => tail.tip().slot
  return [
    ...(store.isShared ? [startPartitionCreator(deps)] : []),
    ...(logRetention === 'all' ? [] : [startPruner(deps, logRetention)]),
    ...(blockRetention === 'all'
      ? []
      : [startBlockPruner(deps, { slots: blockRetention, tip, parameters })]),
  ].map(({ close }) => close)
}

/** Opens the faucet of a development network with an embedded ledger. Two faucets would spend the same outputs. */
function faucetOf(services: FaucetServices, log: Log): Faucet | undefined {
  const { node, network } = services.source
  const { networkName } = network.parameters
  if (networkName !== developmentNetworkName || node !== undefined) return undefined
  return openFaucet(services, { key: developmentKeys().faucet, log })
}

export type TransportDeps = Omit<HttpDeps, 'schema' | 'routes'>

/** Opens only the transports (GraphQL, WebSocket, REST) on services that the caller created. */
export function openTransports(
  deps: TransportDeps,
  { host, port }: ListenAddress,
): Promise<Result<HttpServer, ListenError>> {
  return openHttp({ ...deps, schema, routes }, { host, port })
}
