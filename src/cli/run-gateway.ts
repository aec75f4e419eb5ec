import cluster from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { type Gateway, type GatewayDeps, openGateway, type StartError } from '../gateway.ts'
import { createLog } from '../lib/log.ts'
import { err, type Result } from '../lib/result.ts'
import { answerFirstProcess } from '../metrics/workers.ts'
import { developmentMnemonic, fundedAddresses, fundedAmount } from '../node/embedded/development.ts'
import { developmentNetworkName } from '../node/embedded/development-parameters.ts'
import { storeFaultOf } from '../store/faults.ts'
import { reasonOf, unusableAt } from '../store/unusable.ts'
import { addressInUse, listenMessage } from './address-in-use.ts'
import { done, fail, failed, type ProcessIo, table } from './command.ts'
import { databaseMessage } from './database-message.ts'
import { createGatewayClient } from './gateway-client.ts'
import { firstWorker, numberVariable, portVariable, warnOfSettings } from './run-workers.ts'
import { snapshotMessage } from './snapshot-message.ts'
import { createStartProgress } from './start-progress.ts'

/**
 * Milliseconds in which a gateway closes, in addition to `DRAIN_SECONDS`. A database that does not answer would hold it for minutes, and
 * a supervisor that follows docs/cluster.md kills it two seconds later.
 */
const maxCloseMs = 8_000

const startInterrupted = err({ code: 'START_INTERRUPTED' } as const)

/** Runs a gateway until the process has to stop; resolves to the exit code. */
export async function runGateway(process: ProcessIo, given: Config): Promise<number> {
  const worker = cluster.isWorker ? process.env[numberVariable] : undefined
  const config = cluster.isWorker ? { ...given, port: Number(process.env[portVariable]) } : given
  const fields = worker === undefined ? undefined : { worker: Number(worker) }
  const progress = createStartProgress(process)
  const write = (text: string) => progress.above(() => process.stderr(text))
  const ownLog = createLog({ clock: process.clock, write, fields }, config.logLevel)
  // The handler is registered first, because the signal ends a process without a handler.
  let confirmClock = () => {}
  process.onClockConfirmed(() => confirmClock())
  const metricsOf = worker === undefined ? undefined : { worker, offer: answerFirstProcess }
  const stopping = new AbortController()
  void process.stopped.then(() => stopping.abort())
  const { clock } = process
  const deps = { clock, log: ownLog, metricsOf, stopping: stopping.signal }
  const interrupted = process.stopped.then(() => closingTime(0, startInterrupted))
  const gateway = await Promise.race([tryOpenGateway(config, deps), interrupted])
  if (!gateway.ok) return fail(process, 'serve', startMessage(gateway.error))
  const { log } = gateway.value
  confirmClock = gateway.value.confirmClock
  if (cluster.isPrimary) warnOfSettings(log, config)
  // Of several worker processes only the first one reports the start.
  if (cluster.isPrimary || cluster.worker?.id === firstWorker) {
    log.info('serving', { url: gateway.value.url, network: gateway.value.network })
    process.stdout(welcome(gateway.value, config))
  }
  if (process.progressColumns !== undefined && worker === undefined) {
    const client = createGatewayClient(gateway.value.url)
    // If the health cannot be read, for example because of ALLOWED_HOSTS, no bar is shown.
    void progress.until(client, stopping.signal).catch(() => {})
  }
  const signal = await process.stopped
  log.info('stopping')
  // SIGINT means that the gateway runs in a terminal, where no load balancer checks whether it is ready.
  if (signal !== 'SIGINT') await gateway.value.announceStop()
  const closed = gateway.value.close().then(() => true)
  if (await Promise.race([closed, closingTime(config.drainSeconds, false)])) {
    log.info('stopped')
    return done
  }
  log.warn('stop-cut-short')
  return failed
}

/** Resolves to the value when a gateway that began to close should have closed. It does not keep the process alive. */
function closingTime<T>(drainSeconds: number, value: T): Promise<T> {
  return delay(drainSeconds * 1_000 + maxCloseMs, value, { ref: false })
}

/** Opens a gateway. A database that fails during the start is an error with a message instead of an exception. */
export async function tryOpenGateway(
  config: Config,
  deps: GatewayDeps,
): Promise<Result<Gateway, StartError>> {
  try {
    // A worker process receives its port from the first process, which has already checked it.
    const taken = cluster.isWorker ? undefined : await addressInUse(config)
    return taken === undefined ? await openGateway(config, deps) : err(taken)
  } catch (failure) {
    const fault = storeFaultOf(failure)
    if (fault === undefined) throw failure
    const lost = fault === 'AWAY' ? 'the connection was lost while the gateway started: ' : ''
    return unusableAt(config.databaseUrl.reveal(), `${lost}${reasonOf(failure)}`)
  }
}

/** The message that a started gateway prints. */
function welcome(
  { url, network, metricsUrl, hasFaucet, newLedgerIn }: Gateway,
  { explorer, graphiql, allowedOrigins = 'all' }: Config,
): string {
  const created = newLedgerIn && `No ledger found in ${newLedgerIn}: created a new one.\n`
  return `${created ?? ''}Ledger Gateway is ready on the network ${network}.

${table([
  ...(explorer ? [['Explorer', `${url} in a browser`] as const] : []),
  ...(graphiql ? [['GraphiQL', `${url}/graphql in a browser`] as const] : []),
  ['GraphQL', `${url}/graphql`],
  ['WebSocket', `${url.replace(/^http/, 'ws')}/graphql (graphql-transport-ws)`],
  ['REST', `${url}/v1, ${url}/api/core/v3, ${url}/api/explorer/v2`],
  ['Health', `${url}/health/ready, ${url}/health/live`],
  ...(metricsUrl === undefined ? [] : [['Metrics', metricsUrl] as const]),
])}
${network === developmentNetworkName ? developmentFunds(allowedOrigins === 'all') : ''}${hasFaucet ? faucetHint : ''}`
}

/** The public keys and funds of the development network. */
function developmentFunds(isForAllPages: boolean): string {
  return `
This is a development network. Its keys are public, so its tokens are worth nothing.

  Mnemonic (coin type 4218, account 0):
    ${developmentMnemonic}
  Addresses 0 to ${fundedAddresses - 1} hold ${fundedAmount} each; key 0 may issue blocks.
${isForAllPages ? '  Web pages of any origin may use the gateway; ALLOWED_ORIGINS restricts this.\n' : ''}`
}

const faucetHint = '  More tokens for any address: ledger-gateway faucet ADDRESS\n'

/** The message for a gateway that does not start, with the action to take. */
export function startMessage(error: StartError): string {
  switch (error.code) {
    case 'CANNOT_LISTEN':
    case 'METRICS_CANNOT_LISTEN':
      return listenMessage(error)
    case 'LEASE_HELD':
      return `another process (${error.holder}) writes this database; stop it first, or choose another database with --database`
    case 'START_INTERRUPTED':
      return 'the start was interrupted before the ledger was initialized'
    case 'NETWORK_DIFFERS':
      return `the database holds the network "${error.found}", not "${error.expected}"`
    case 'LEDGER_KEPT_BY_OTHERS':
      return error.keptBy === 'NODES'
        ? 'the ledger of this database is followed from nodes; start with LEDGER=upstream, or choose another database with --database'
        : 'the ledger of this database is run by this program; start with LEDGER=embedded, or choose another database with --database'
    case 'NODES_AWAY':
      return 'none of the URLs in UPSTREAM_URLS answers like a node, and a new database needs a node; LOG_LEVEL=debug logs the reasons'
    case 'NODE_ANSWER_UNREADABLE':
      return `the response of node ${error.node} in UPSTREAM_URLS to ${error.path} cannot be read: ${error.reason}`
    case 'GENESIS_NOT_TOLD':
      return 'the nodes do not serve the genesis of their network; name a file that contains it with --genesis-file'
    case 'GENESIS_DIFFERS':
      return `the genesis does not lead to the first commitment of the nodes: ${error.computed}, not ${error.served}`
    case 'PROTOCOL_VERSION_NOT_TOLD':
      return `the nodes do not support version ${error.version} of the protocol`
    case 'SNAPSHOT_MALFORMED':
    case 'SNAPSHOT_DAMAGED':
    case 'SNAPSHOT_ROWS_WRONG':
    case 'SNAPSHOT_FILE_MALFORMED':
    case 'SNAPSHOT_OF_GENESIS':
    case 'SNAPSHOT_ENDED_EARLY':
    case 'SNAPSHOT_ROOT_DIFFERS':
    case 'SNAPSHOT_OUTPUT_UNPROVED':
    case 'SNAPSHOT_SUPPLY_DIFFERS':
    case 'SNAPSHOT_COMMITMENT_DIFFERS':
    case 'SNAPSHOT_OF_ANOTHER_NETWORK':
    case 'SNAPSHOT_AWAY':
    case 'SNAPSHOT_INTERRUPTED':
    case 'SNAPSHOT_UNFINISHED':
      return snapshotMessage(error)
    case 'GENESIS_FILE_INVALID':
      return `${error.path} of GENESIS_FILE or PARAMETERS_FILE cannot be used: ${error.reason}`
    case 'TRUSTED_DOCUMENTS_INVALID':
      return `${error.path} of TRUSTED_DOCUMENTS cannot be used: ${error.reason}`
    case 'TOKEN_FILE_UNUSABLE':
      return `${error.path} of JWT_JWKS or JWT_REVOCATIONS cannot be used: ${error.reason}`
    case 'KEY_FILE_UNUSABLE':
      return `the key file ${error.path} cannot be used: ${error.reason}`
    case 'DATABASE_URL_NOT_SUPPORTED':
    case 'DATABASE_UNUSABLE':
    case 'DATABASE_NEWER_THAN_PROGRAM':
    case 'MIGRATION_CHANGED':
    case 'MIGRATION_UNFINISHED':
    case 'DATABASE_IN_USE':
    case 'DATABASE_OLDER_THAN_PROGRAM':
    case 'IMPORT_UNFINISHED':
      return databaseMessage(error)
    case 'LEDGER_MISSING':
      return `${databaseMessage(error)}, and --no-create forbids creating one`
  }
}
