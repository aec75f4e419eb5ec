import { maxBlockSize } from '../protocol/block.ts'
import { asOfUpdateLimit } from '../service/addresses/address-as-of.ts'
import { maxFollowedChains } from '../service/chain-records/follow-chain-records.ts'
import { maxAccessNodeLength, maxAccessNodes } from '../service/chain-records/set-chain-record.ts'
import { maximumFeedAddresses } from '../service/feed/follow-ledger-updates.ts'
import { defaultListSize } from '../service/lists/keyset-page.ts'
import { maxHits } from '../service/search/look-up.ts'
import { maxSearchLength } from '../service/search/meanings.ts'
import { maxActivityPoints } from '../service/slots/read-activity.ts'
import { defaultPageSize, maximumPageSize } from '../service/updates/list-ledger-updates.ts'
import { maxUnansweredRequests } from './answers.ts'
import { documentLimits } from './graphql/document-limit-list.ts'
import type { Limit } from './limit.ts'
import {
  maxConnectionCost,
  maxTurnsAwaited,
  maxUnsentAnswers,
  type TransportLimits,
} from './limits.ts'
import { maxTopics } from './mqtt/broker.ts'
import { maxBodyBytes } from './rest/body.ts'
import { maxHeadBytes } from './unreadable.ts'

/** Every limit that a client can meet, each with the value that is in force where it is applied. */

/** The limits of a gateway. */
export function limitsOf(transports: TransportLimits): readonly Limit[] {
  return [
    ...requestLimits(transports),
    ...documentLimits(transports),
    ...listLimits,
    ...feedLimits(transports),
  ]
}

const requestLimits = ({ requestMs }: TransportLimits): readonly Limit[] => [
  {
    name: 'headBytes',
    value: maxHeadBytes,
    unit: 'BYTES',
    meaning: 'Request line and headers together.',
    error: 'REQUEST_HEAD_TOO_LARGE',
  },
  {
    name: 'bodyBytes',
    value: maxBodyBytes,
    unit: 'BYTES',
    meaning: 'The body of a request, and a message of a WebSocket.',
    error: 'BODY_TOO_LARGE',
  },
  {
    name: 'requestMs',
    value: requestMs,
    unit: 'MILLISECONDS',
    meaning: 'In which a request has to arrive.',
    error: 'REQUEST_TOO_SLOW',
  },
  {
    name: 'unansweredRequests',
    value: maxUnansweredRequests,
    unit: 'COUNT',
    meaning:
      'Requests of one connection that are under way. With more it is parsed no further until some are answered.',
  },
  {
    name: 'turnsAwaited',
    value: maxTurnsAwaited,
    unit: 'COUNT',
    meaning:
      'Requests and messages of one client that wait for their turns. With more its further connections are cut.',
  },
  { name: 'blockBytes', value: maxBlockSize, unit: 'BYTES', meaning: 'A serialized block.' },
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
    meaning: 'The text of an access node.',
  },
]

const listLimits: readonly Limit[] = [
  {
    name: 'pageSize',
    value: maximumPageSize,
    unit: 'COUNT',
    meaning: 'Elements of a page, and ids of nodes(ids).',
    error: 'PAGE_SIZE_OUT_OF_RANGE',
  },
  {
    name: 'defaultPageSize',
    value: defaultListSize,
    unit: 'COUNT',
    meaning: 'Elements of a page without first and last.',
  },
  {
    name: 'defaultUpdatesPageSize',
    value: defaultPageSize,
    unit: 'COUNT',
    meaning: 'The same of the root ledgerUpdates.',
  },
  {
    name: 'activityPoints',
    value: maxActivityPoints,
    unit: 'COUNT',
    meaning: 'Spans of time of activity.',
    error: 'ACTIVITY_RANGE_TOO_WIDE',
  },
  {
    name: 'asOfUpdates',
    value: asOfUpdateLimit,
    unit: 'COUNT',
    meaning: 'Updates of an address up to the milestone of its asOf.',
    error: 'ADDRESS_HISTORY_TOO_LONG',
  },
  {
    name: 'searchCharacters',
    value: maxSearchLength,
    unit: 'CHARACTERS',
    meaning: 'The text of search; a longer one means nothing.',
  },
  { name: 'searchHits', value: maxHits, unit: 'COUNT', meaning: 'Things that search names.' },
]

function spaceLimits({ minFreeDisk, maxDatabaseSize }: TransportLimits): readonly Limit[] {
  const free: Limit = {
    name: 'freeDiskBytes',
    value: minFreeDisk,
    unit: 'BYTES',
    meaning: 'That are to be free on the disk of a SQLite file for new blocks to be taken.',
    error: 'DISK_LOW',
    setting: 'MIN_FREE_DISK',
  }
  if (maxDatabaseSize === undefined) return [free]
  const size: Limit = {
    name: 'databaseBytes',
    value: maxDatabaseSize,
    unit: 'BYTES',
    meaning: 'Of the database, beyond which no new blocks are taken.',
    error: 'DISK_LOW',
    setting: 'MAX_DATABASE_SIZE',
  }
  return [free, size]
}

const feedLimits = (transports: TransportLimits): readonly Limit[] => [
  {
    name: 'operations',
    value: transports.operations,
    unit: 'COUNT',
    meaning: 'Queries and mutations that are under way in this process.',
    error: 'OPERATION_LIMIT',
  },
  {
    name: 'heldAnswerBytes',
    value: transports.heldBytes,
    unit: 'BYTES',
    meaning: 'Answers of this process that are made and not sent yet, together.',
    error: 'OPERATION_LIMIT',
  },
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
    name: 'connectionCost',
    value: maxConnectionCost,
    unit: 'COST',
    meaning: 'What an event of each subscription of one WebSocket may cost together.',
    error: 'SUBSCRIPTIONS_TOO_COSTLY',
  },
  {
    name: 'clientConnections',
    value: transports.client.connections,
    unit: 'COUNT',
    meaning:
      'WebSockets and event streams of one client; of connections of any kind twice as many.',
    error: 'CLIENT_CONNECTION_LIMIT',
    setting: 'CLIENT_CONNECTIONS',
  },
  {
    name: 'clientSubscriptions',
    value: transports.client.subscriptions,
    unit: 'COUNT',
    meaning: 'Subscriptions and long polls of one client.',
    error: 'CLIENT_SUBSCRIPTION_LIMIT',
    setting: 'CLIENT_SUBSCRIPTIONS',
  },
  {
    name: 'clientCost',
    value: transports.client.costPerSecond,
    unit: 'COST',
    meaning:
      'What one client may spend a second over all transports, and ten times of it in one go.',
    error: 'RATE_LIMIT_EXCEEDED',
    setting: 'CLIENT_COST',
  },
  {
    name: 'loopDelayMs',
    value: transports.loopDelayMs,
    unit: 'MILLISECONDS',
    meaning: 'For which the event loop may be late on average; 0 for any time.',
    error: 'GATEWAY_OVERLOADED',
    setting: 'MAX_LOOP_DELAY',
  },
  {
    name: 'unsentBytes',
    value: maxUnsentAnswers,
    unit: 'BYTES',
    meaning:
      'That wait for the client of a WebSocket when another answer is made; with more it is cut.',
  },
  {
    name: 'clientPayloads',
    value: transports.client.payloadsPerDay,
    unit: 'COUNT',
    meaning: 'Payloads of one client a day around which the node builds and signs blocks.',
    error: 'DAILY_QUOTA_EXCEEDED',
    setting: 'CLIENT_PAYLOADS',
  },
  {
    name: 'clientBytes',
    value: transports.client.bytesPerDay,
    unit: 'BYTES',
    meaning: 'Blocks that one client may add a day.',
    error: 'DAILY_QUOTA_EXCEEDED',
    setting: 'CLIENT_MEGABYTES',
  },
  ...spaceLimits(transports),
  {
    name: 'heartbeatMs',
    value: transports.heartbeatMs,
    unit: 'MILLISECONDS',
    meaning: 'Between two probes of a connection; one that gave no sign since the last is cut.',
  },
  {
    name: 'stalledWriteMs',
    value: transports.stalledWriteMs,
    unit: 'MILLISECONDS',
    meaning: 'After which a connection is cut whose client reads nothing.',
  },
  {
    name: 'feedAddresses',
    value: maximumFeedAddresses,
    unit: 'COUNT',
    meaning: 'Addresses of a feed.',
    error: 'FEED_ADDRESS_COUNT',
  },
  {
    name: 'followedChains',
    value: maxFollowedChains,
    unit: 'COUNT',
    meaning: 'Chains whose records a subscription follows.',
    error: 'CHAIN_ID_COUNT',
  },
  { name: 'mqttTopics', value: maxTopics, unit: 'COUNT', meaning: 'Topics of one MQTT client.' },
]
