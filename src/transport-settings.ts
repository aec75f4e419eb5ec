import { type Explorer, readExplorer } from './api/explorer.ts'
import {
  defaultClientLimits,
  defaultLimits,
  defaultLoopDelayMs,
  developmentClientLimits,
  type TransportLimits,
} from './api/limits.ts'
import type { Policies } from './api/policies.ts'
import { bytesPerMegabyte } from './client-settings.ts'
import type { Config } from './config.ts'
import type { Log } from './lib/log.ts'
import { developmentNetworkName } from './node/embedded/development-parameters.ts'

/** Converts settings to the policies and limits of the transports. The defaults depend on the network. */

/** On a development network every web page may read responses; elsewhere the operator lists the origins. */
export function policiesOf(config: Config, network: string): Policies {
  const { allowedOrigins, allowedHosts: hosts } = config
  const { graphiql: hasGraphiql, introspection: hasIntrospection } = config
  const usual = network === developmentNetworkName ? 'all' : new Set<string>()
  return { origins: allowedOrigins ?? usual, hosts, hasGraphiql, hasIntrospection }
}

export function limitsOf(config: Config, network: string): TransportLimits {
  const { maxConnections: connections, maxSubscriptions: subscriptions } = config
  const isDevelopment = network === developmentNetworkName
  const usual = isDevelopment ? developmentClientLimits : defaultClientLimits
  const client = {
    costPerSecond: config.clientCost ?? usual.costPerSecond,
    connections: config.clientConnections ?? usual.connections,
    subscriptions: config.clientSubscriptions ?? usual.subscriptions,
    payloadsPerDay: config.clientPayloads ?? usual.payloadsPerDay,
    bytesPerDay: megabytes(config.clientMegabytes) ?? usual.bytesPerDay,
  }
  const defaultDelay = isDevelopment ? defaultLimits.loopDelayMs : defaultLoopDelayMs
  const { maxLoopDelay: loopDelayMs = defaultDelay } = config
  const minFreeDisk = config.minFreeDisk * bytesPerMegabyte
  const maxDatabaseSize = megabytes(config.maxDatabaseSize)
  const ofAll = { connections, subscriptions, loopDelayMs, minFreeDisk, maxDatabaseSize }
  return { ...defaultLimits, ...ofAll, client }
}

/** Reads the files of the explorer. A checkout in which it was not built serves everything else. */
export async function explorerOf(
  { explorer: isOn }: Config,
  log: Log,
): Promise<Explorer | undefined> {
  if (!isOn) return undefined
  const explorer = await readExplorer()
  if (explorer === undefined) log.warn('explorer-not-built', {})
  return explorer
}

function megabytes(count: number | undefined): number | undefined {
  return count === undefined ? undefined : count * bytesPerMegabyte
}
