import {
  defaultClientLimits,
  defaultLimits,
  defaultLoopDelayMs,
  developmentClientLimits,
} from './api/limits.ts'
import { integer, proxies } from './setting-values.ts'

/** Bytes of one megabyte in settings that are given in megabytes. */
export const bytesPerMegabyte = 1_048_576

const fromOne = integer('NUMBER', { min: 1 })
const onNetworks = (usual: number, onDevelopment: number) =>
  `${usual}, or ${onDevelopment} on the development network`
const { connections, subscriptions } = defaultLimits
const [usual, free] = [defaultClientLimits, developmentClientLimits]

/** Settings that limit one client, and all clients together. */
export const clientSettings = {
  maxConnections: {
    type: integer('NUMBER'),
    byDefault: `${connections}`,
    help: 'maximum number of open WebSockets and event streams',
  },
  maxSubscriptions: {
    type: integer('NUMBER'),
    byDefault: `${subscriptions}`,
    help: 'maximum number of open subscriptions over all connections',
  },
  trustProxy: {
    type: proxies,
    byDefault: '0',
    help: 'trusted proxies, whose `X-Forwarded-For` or `Forwarded` header names the client: their number, or their networks separated by commas',
    more: 'Each proxy must set or remove both headers.',
  },
  clientCost: {
    type: fromOne,
    without: onNetworks(usual.costPerSecond, free.costPerSecond),
    help: 'units of query cost that one client may spend per second',
    more: 'A client is the subject of a token, or an IP address. The limit covers all transports. A burst may spend ten times as much at once.',
  },
  clientConnections: {
    type: fromOne,
    without: onNetworks(usual.connections, free.connections),
    help: 'maximum number of open WebSockets and event streams per client',
    more: 'An IP address may have twice as many open connections of any kind.',
  },
  clientSubscriptions: {
    type: fromOne,
    without: onNetworks(usual.subscriptions, free.subscriptions),
    help: 'maximum number of open subscriptions and long polls per client',
  },
  clientPayloads: {
    type: integer('NUMBER'),
    without: onNetworks(usual.payloadsPerDay, free.payloadsPerDay),
    help: 'payloads per day that one client may submit without a block; the node builds and signs a block for each',
  },
  clientMegabytes: {
    type: integer('MB', { min: 1 }),
    without: onNetworks(usual.bytesPerDay / bytesPerMegabyte, free.bytesPerDay / bytesPerMegabyte),
    help: 'megabytes of blocks that one client may add per day',
  },
  minFreeDisk: {
    type: integer('MB'),
    byDefault: `${defaultLimits.minFreeDisk / bytesPerMegabyte}`,
    help: 'with SQLite: megabytes of free disk space that are required to accept new blocks; 0 turns the check off',
  },
  maxDatabaseSize: {
    type: integer('MB', { min: 1 }),
    without: 'unlimited',
    help: 'size of the database in megabytes above which no new blocks are accepted',
  },
  maxLoopDelay: {
    type: integer('NUMBER'),
    without: onNetworks(defaultLoopDelayMs, defaultLimits.loopDelayMs),
    help: 'mean delay of the event loop in milliseconds above which requests are refused with 503; 0 turns the check off',
    more: 'Requests for `/health/live` and requests whose token has the scope `operator` are always answered.',
  },
} as const
