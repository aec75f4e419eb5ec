import { maxBlockSize } from '../protocol/block.ts'
import { asOfUpdateLimit } from '../service/addresses/address-as-of.ts'
import { maxFollowedChains } from '../service/chain-records/follow-chain-records.ts'
import { maxAccessNodeLength, maxAccessNodes } from '../service/chain-records/set-chain-record.ts'
import { maxFeedAddresses } from '../service/feed/follow-ledger-updates.ts'
import { defaultListSize } from '../service/lists/keyset-page.ts'
import { maxFilterAddresses } from '../service/lists/list-outputs.ts'
import { maxHits } from '../service/search/look-up.ts'
import { maxSearchLength } from '../service/search/meanings.ts'
import { maxActivityPoints } from '../service/slots/read-activity.ts'
import { defaultPageSize, maxPageSize } from '../service/updates/list-ledger-updates.ts'
import { documentLimits } from './graphql/execution/document-limit-list.ts'
import { maxHeadBytes } from './http/unreadable.ts'
import type { Limit } from './limit.ts'
import {
  maxConnectionCost,
  maxIdLength,
  maxSubscriptionBytes,
  maxTurnsAwaited,
  maxUnsentAnswers,
  type TransportLimits,
} from './limits.ts'
import { maxPacketBytes, maxTopics } from './mqtt/broker.ts'
import { maxUnansweredRequests } from './response-tracker.ts'
import { maxBodyBytes, maxBodyChunks, maxJsonValues } from './rest/body.ts'
import { maxFragments } from './streams/ws.ts'

/** Every limit that is reported to clients, each with its current value. */

/** Returns the limits of a gateway. */
export function limitsOf(transports: TransportLimits): readonly Limit[] {
  return [
    ...requestLimits(transports),
    ...documentLimits(transports),
    ...listLimits,
    ...operationLimits(transports),
    ...subscriptionLimits(transports),
    ...clientLimits(transports),
    ...loadLimits(transports),
    ...quotaLimits(transports),
    ...storageLimits(transports),
    ...connectionTimeouts(transports),
    ...feedLimits,
  ]
}

const requestLimits = ({ requestMs }: TransportLimits): readonly Limit[] => [
  {
    name: 'headBytes',
    value: maxHeadBytes,
    unit: 'BYTES',
    meaning: 'Total size of request line and headers.',
    error: 'REQUEST_HEAD_TOO_LARGE',
  },
  {
    name: 'bodyBytes',
    value: maxBodyBytes,
    unit: 'BYTES',
    meaning: 'Size of a request body or a WebSocket message.',
    error: 'BODY_TOO_LARGE',
  },
  {
    name: 'bodyChunks',
    value: maxBodyChunks,
    unit: 'COUNT',
    meaning: 'Chunks in which a request body may arrive; above it the connection is closed.',
  },
  {
    name: 'messageFragments',
    value: maxFragments,
    unit: 'COUNT',
    meaning: 'Fragments of a WebSocket message; above it the connection is closed.',
  },
  {
    name: 'bodyValues',
    value: maxJsonValues,
    unit: 'COUNT',
    meaning:
      'Values in a JSON body or a WebSocket message: members of objects and elements of arrays on all levels.',
    error: 'TOO_MANY_VALUES',
  },
  {
    name: 'requestMs',
    value: requestMs,
    unit: 'MILLISECONDS',
    meaning: 'Time within which a request must arrive completely.',
    error: 'REQUEST_TOO_SLOW',
  },
  {
    name: 'unansweredRequests',
    value: maxUnansweredRequests,
    unit: 'COUNT',
    meaning:
      'Unanswered requests of one connection. Above it the gateway reads no further requests from the connection until some are answered.',
  },
  {
    name: 'turnsAwaited',
    value: maxTurnsAwaited,
    unit: 'COUNT',
    meaning:
      'Queued requests and messages of one client. Above it new connections of the client are closed.',
  },
  {
    name: 'blockBytes',
    value: maxBlockSize,
    unit: 'BYTES',
    meaning: 'Size of a serialized block.',
  },
  {
    name: 'accessNodes',
    value: maxAccessNodes,
    unit: 'COUNT',
    meaning: 'Access nodes of a chain record.',
  },
  {
    name: 'accessNodeCharacters',
    value: maxAccessNodeLength,
    unit: 'CHARACTERS',
    meaning: 'Length of the text of an access node.',
  },
]

const listLimits: readonly Limit[] = [
  {
    name: 'pageSize',
    value: maxPageSize,
    unit: 'COUNT',
    meaning: 'Elements of a page, and ids in nodes(ids).',
    error: 'PAGE_SIZE_OUT_OF_RANGE',
  },
  {
    name: 'defaultPageSize',
    value: defaultListSize,
    unit: 'COUNT',
    meaning: 'Elements of a page without first and last, except of the lists below.',
  },
  {
    name: 'defaultUpdatesPageSize',
    value: defaultPageSize,
    unit: 'COUNT',
    meaning:
      'The same for the root field ledgerUpdates, unspent outputs, native tokens and chain records.',
  },
  {
    name: 'filterAddresses',
    value: maxFilterAddresses,
    unit: 'COUNT',
    meaning: 'Addresses in a filter of outputs.',
    error: 'FILTER_ADDRESS_COUNT',
  },
  {
    name: 'activityPoints',
    value: maxActivityPoints,
    unit: 'COUNT',
    meaning: 'Time spans in a response of activity.',
    error: 'ACTIVITY_RANGE_TOO_WIDE',
  },
  {
    name: 'asOfUpdates',
    value: asOfUpdateLimit,
    unit: 'COUNT',
    meaning: 'Updates of an address up to the milestone of asOf.',
    error: 'ADDRESS_HISTORY_TOO_LONG',
  },
  {
    name: 'searchCharacters',
    value: maxSearchLength,
    unit: 'CHARACTERS',
    meaning: 'Length of the text of search; a longer text has no results.',
  },
  { name: 'searchHits', value: maxHits, unit: 'COUNT', meaning: 'Results of search.' },
]

const operationLimits = ({ operations, heldBytes }: TransportLimits): readonly Limit[] => [
  {
    name: 'operations',
    value: operations,
    unit: 'COUNT',
    meaning: 'Running queries and mutations of this process; no client has more than are free.',
    error: 'OPERATION_LIMIT',
  },
  {
    name: 'heldAnswerBytes',
    value: heldBytes,
    unit: 'BYTES',
    meaning:
      'Total size of the computed responses of this process that are not sent yet; no client has more than is free.',
    error: 'OPERATION_LIMIT',
  },
]

const subscriptionLimits = (transports: TransportLimits): readonly Limit[] => [
  {
    name: 'connections',
    value: transports.connections,
    unit: 'COUNT',
    meaning: 'WebSockets and event streams of this process.',
    error: 'CONNECTION_LIMIT',
    setting: 'MAX_CONNECTIONS',
  },
  {
    name: 'subscriptions',
    value: transports.subscriptions,
    unit: 'COUNT',
    meaning: 'Subscriptions of this process.',
    error: 'SUBSCRIPTION_LIMIT',
    setting: 'MAX_SUBSCRIPTIONS',
  },
  {
    name: 'subscriptionsPerConnection',
    value: transports.subscriptionsPerConnection,
    unit: 'COUNT',
    meaning: 'Subscriptions of one WebSocket.',
    error: 'SUBSCRIPTION_LIMIT',
  },
  {
    name: 'subscriptionBytes',
    value: maxSubscriptionBytes,
    unit: 'BYTES',
    meaning:
      'Size of a request body or a WebSocket message that begins a subscription; its document and variables are held as long as it lasts.',
    error: 'BODY_TOO_LARGE',
  },
  {
    name: 'operationIdCharacters',
    value: maxIdLength,
    unit: 'CHARACTERS',
    meaning: 'Length of the id of an operation on a WebSocket; above it the connection is closed.',
  },
  {
    name: 'connectionCost',
    value: maxConnectionCost,
    unit: 'COST',
    meaning: 'Total cost of one event of each subscription of a WebSocket.',
    error: 'SUBSCRIPTIONS_TOO_COSTLY',
  },
]

const clientLimits = ({ client }: TransportLimits): readonly Limit[] => [
  {
    name: 'clientConnections',
    value: client.connections,
    unit: 'COUNT',
    meaning:
      'WebSockets and event streams of one client. The limit for connections of all kinds is twice as high.',
    error: 'CLIENT_CONNECTION_LIMIT',
    setting: 'CLIENT_CONNECTIONS',
  },
  {
    name: 'clientSubscriptions',
    value: client.subscriptions,
    unit: 'COUNT',
    meaning: 'Subscriptions and long polls of one client.',
    error: 'CLIENT_SUBSCRIPTION_LIMIT',
    setting: 'CLIENT_SUBSCRIPTIONS',
  },
  {
    name: 'clientCost',
    value: client.costPerSecond,
    unit: 'COST',
    meaning:
      'Cost that one client may spend per second on all transports. It may spend ten times as much at once.',
    error: 'RATE_LIMIT_EXCEEDED',
    setting: 'CLIENT_COST',
  },
]

const loadLimits = ({ loopDelayMs }: TransportLimits): readonly Limit[] => [
  {
    name: 'loopDelayMs',
    value: loopDelayMs,
    unit: 'MILLISECONDS',
    meaning: 'Average event loop delay above which requests are refused; 0 turns the check off.',
    error: 'GATEWAY_OVERLOADED',
    setting: 'MAX_LOOP_DELAY',
  },
  {
    name: 'unsentBytes',
    value: maxUnsentAnswers,
    unit: 'BYTES',
    meaning:
      'Unsent data of a WebSocket when another response is ready; above it the connection is closed.',
  },
]

const quotaLimits = ({ client }: TransportLimits): readonly Limit[] => [
  {
    name: 'clientPayloads',
    value: client.payloadsPerDay,
    unit: 'COUNT',
    meaning: 'Payloads of one client per day for which the node builds and signs blocks.',
    error: 'DAILY_QUOTA_EXCEEDED',
    setting: 'CLIENT_PAYLOADS',
  },
  {
    name: 'clientBytes',
    value: client.bytesPerDay,
    unit: 'BYTES',
    meaning: 'Total size of the blocks that one client may submit per day.',
    error: 'DAILY_QUOTA_EXCEEDED',
    setting: 'CLIENT_MEGABYTES',
  },
]

function storageLimits({ minFreeDisk, maxDatabaseSize }: TransportLimits): readonly Limit[] {
  const free: Limit = {
    name: 'freeDiskBytes',
    value: minFreeDisk,
    unit: 'BYTES',
    meaning: 'Free disk space of a SQLite file below which no new blocks are accepted.',
    error: 'DISK_LOW',
    setting: 'MIN_FREE_DISK',
  }
  if (maxDatabaseSize === undefined) return [free]
  const size: Limit = {
    name: 'databaseBytes',
    value: maxDatabaseSize,
    unit: 'BYTES',
    meaning: 'Size of the database above which no new blocks are accepted.',
    error: 'DISK_LOW',
    setting: 'MAX_DATABASE_SIZE',
  }
  return [free, size]
}

const connectionTimeouts = (transports: TransportLimits): readonly Limit[] => [
  {
    name: 'heartbeatMs',
    value: transports.heartbeatMs,
    unit: 'MILLISECONDS',
    meaning:
      'Interval between two pings of a WebSocket; one that sent nothing since the last ping is closed, unless data waits to be sent to it.',
  },
  {
    name: 'stalledWriteMs',
    value: transports.stalledWriteMs,
    unit: 'MILLISECONDS',
    meaning: 'Time after which a connection is closed if its client reads nothing.',
  },
]

const feedLimits: readonly Limit[] = [
  {
    name: 'feedAddresses',
    value: maxFeedAddresses,
    unit: 'COUNT',
    meaning: 'Addresses of a feed.',
    error: 'FEED_ADDRESS_COUNT',
  },
  {
    name: 'followedChains',
    value: maxFollowedChains,
    unit: 'COUNT',
    meaning: 'Chains of a subscription to chain records.',
    error: 'CHAIN_ID_COUNT',
  },
  { name: 'mqttTopics', value: maxTopics, unit: 'COUNT', meaning: 'Topics of one MQTT client.' },
  {
    name: 'mqttPacketBytes',
    value: maxPacketBytes,
    unit: 'BYTES',
    meaning: 'Size of a packet of an MQTT client; above it the client is disconnected.',
  },
]
