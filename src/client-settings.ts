import {
  defaultLimits,
  developmentClientLimits,
  usualClientLimits,
  usualLoopDelayMs,
} from './api/limits.ts'
import { proxies, whole } from './setting-values.ts'

/** Of the settings in megabytes. */
export const bytesPerMegabyte = 1_048_576

const fromOne = whole('NUMBER', { least: 1 })
const onNetworks = (usual: number, onDevelopment: number) =>
  `${usual}, or ${onDevelopment} on the development network`
const { connections, subscriptions } = defaultLimits
const [usual, free] = [usualClientLimits, developmentClientLimits]

/** The settings of what one client may do, and of what all of them may together. */
export const clientSettings = {
  maxConnections: {
    type: whole('NUMBER'),
    byDefault: `${connections}`,
    help: 'WebSockets and event streams that may be open at once',
  },
  maxSubscriptions: {
    type: whole('NUMBER'),
    byDefault: `${subscriptions}`,
    help: 'subscriptions that may be open on all of them together',
  },
  trustProxy: {
    type: proxies,
    byDefault: '0',
    help: 'proxies whose `X-Forwarded-For` or `Forwarded` names the client: how many are in front, or their networks with commas between',
    more: 'Each has to set or drop both headers.',
  },
  clientCost: {
    type: fromOne,
    without: onNetworks(usual.costPerSecond, free.costPerSecond),
    help: 'units of cost that one client may spend a second',
    more: 'A client is the subject of a token or an address. It may spend that over all transports, and ten times of it in one go.',
  },
  clientConnections: {
    type: fromOne,
    without: onNetworks(usual.connections, free.connections),
    help: 'WebSockets and event streams that one client may have open',
    more: 'Of connections of any kind its address may have twice as many.',
  },
  clientSubscriptions: {
    type: fromOne,
    without: onNetworks(usual.subscriptions, free.subscriptions),
    help: 'subscriptions and long polls that one client may have open',
  },
  clientPayloads: {
    type: whole('NUMBER'),
    without: onNetworks(usual.payloadsPerDay, free.payloadsPerDay),
    help: 'payloads that come alone of one client, around which the node builds and signs blocks a day',
  },
  clientMegabytes: {
    type: whole('MB', { least: 1 }),
    without: onNetworks(usual.bytesPerDay / bytesPerMegabyte, free.bytesPerDay / bytesPerMegabyte),
    help: 'megabytes of blocks that one client may add a day',
  },
  minFreeDisk: {
    type: whole('MB'),
    byDefault: `${defaultLimits.minFreeDisk / bytesPerMegabyte}`,
    help: 'with SQLite: megabytes of its disk that are to be free for new blocks to be taken; 0 for none',
  },
  maxDatabaseSize: {
    type: whole('MB', { least: 1 }),
    without: 'unbounded',
    help: 'megabytes of the database beyond which no new blocks are taken',
  },
  maxLoopDelay: {
    type: whole('NUMBER'),
    without: onNetworks(usualLoopDelayMs, defaultLimits.loopDelayMs),
    help: 'mean delay of the event loop, in milliseconds, beyond which requests are refused with 503, 0 for any',
    more: '`/health/live` and requests with a token of the scope `operator` are answered all the same.',
  },
} as const
