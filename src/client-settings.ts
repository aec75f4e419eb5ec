import {
  defaultLimits,
  developmentClientLimits,
  usualClientLimits,
  usualLoopDelayMs,
} from './api/limits.ts'

/** Of the settings in megabytes. */
export const bytesPerMegabyte = 1_048_576

/** The settings of what one client may do, and of what all of them may together. */
export const clientSettings = {
  trustProxy: {
    variable: 'TRUST_PROXY',
    flag: 'trust-proxy',
    value: 'PROXIES',
    byDefault: undefined,
    help: 'proxies whose X-Forwarded-For or Forwarded names the client: how many are in front, or their networks with commas between',
  },
  clientCost: {
    variable: 'CLIENT_COST',
    flag: 'client-cost',
    value: 'NUMBER',
    byDefault: undefined,
    help: `units of cost that one client may spend a second; by default ${usualClientLimits.costPerSecond}, and ${developmentClientLimits.costPerSecond} on the development network`,
  },
  clientConnections: {
    variable: 'CLIENT_CONNECTIONS',
    flag: 'client-connections',
    value: 'NUMBER',
    byDefault: undefined,
    help: `WebSockets and event streams that one client may have open; by default ${usualClientLimits.connections}, and ${developmentClientLimits.connections} on the development network`,
  },
  clientSubscriptions: {
    variable: 'CLIENT_SUBSCRIPTIONS',
    flag: 'client-subscriptions',
    value: 'NUMBER',
    byDefault: undefined,
    help: `subscriptions and long polls that one client may have open; by default ${usualClientLimits.subscriptions}, and ${developmentClientLimits.subscriptions} on the development network`,
  },
  clientPayloads: {
    variable: 'CLIENT_PAYLOADS',
    flag: 'client-payloads',
    value: 'NUMBER',
    byDefault: undefined,
    help: `payloads that come alone of one client, around which the node signs blocks a day; by default ${usualClientLimits.payloadsPerDay}, and ${developmentClientLimits.payloadsPerDay} on the development network`,
  },
  clientMegabytes: {
    variable: 'CLIENT_MEGABYTES',
    flag: 'client-megabytes',
    value: 'MB',
    byDefault: undefined,
    help: `megabytes of blocks that one client may add a day; by default ${usualClientLimits.bytesPerDay / bytesPerMegabyte}, and ${developmentClientLimits.bytesPerDay / bytesPerMegabyte} on the development network`,
  },
  minFreeDisk: {
    variable: 'MIN_FREE_DISK',
    flag: 'min-free-disk',
    value: 'MB',
    byDefault: String(defaultLimits.minFreeDisk / bytesPerMegabyte),
    help: 'with SQLite: megabytes of its disk that are to be free for new blocks to be taken; 0 for none',
  },
  maxDatabaseSize: {
    variable: 'MAX_DATABASE_SIZE',
    flag: 'max-database-size',
    value: 'MB',
    byDefault: undefined,
    help: 'megabytes of the database beyond which no new blocks are taken',
  },
  maxLoopDelay: {
    variable: 'MAX_LOOP_DELAY',
    flag: 'max-loop-delay',
    value: 'NUMBER',
    byDefault: undefined,
    help: `mean delay of the event loop, in milliseconds, beyond which requests without a token of the operator are refused, 0 for any; by default ${usualLoopDelayMs}, and ${defaultLimits.loopDelayMs} on the development network`,
  },
} as const
