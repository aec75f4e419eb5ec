import { limitsOf } from '../../src/api/limit-list.ts'
import { defaultLimits } from '../../src/api/limits.ts'
import { present } from '../../src/lib/assert.ts'

/** The content of `docs/limits.md`: each limit with the test that fails without it. */

/** A test: its file in `test`, and its title or the title of its row. */
export type NamedTest = readonly [file: string, name: string]

const ofQuery = (limit: string): NamedTest => ['api/graphql/types/limits-query.test.ts', limit]

/** The tests by the name of the limit. */
export const limitTests: Readonly<Record<string, NamedTest>> = {
  headBytes: [
    'api/unreadable.test.ts',
    'reads a head just below the maximum length, and refuses a longer one',
  ],
  bodyBytes: ofQuery('bodyBytes'),
  bodyChunks: ['api/rest/body.test.ts', 'the connection of a body in too many chunks is closed'],
  messageFragments: ['api/ws.test.ts', 'for a message in too many fragments at %s'],
  bodyValues: ofQuery('of the values of a body apply on every transport'),
  requestMs: ['api/unreadable.test.ts', 'waits for a body only for the time limit of a request'],
  unansweredRequests: [
    'api/paced-reading.test.ts',
    'with many requests parses a limited number of them before it gets responses',
  ],
  turnsAwaited: ['api/sockets.test.ts', 'of a client with more waiting requests is closed'],
  blockBytes: [
    'service/oversize.test.ts',
    'an oversize block is rejected by inspection before any signature is checked',
  ],
  accessNodes: ['api/rest/chain-record.test.ts', 'one node too many'],
  accessNodeCharacters: ['api/rest/chain-record.test.ts', 'a node too long'],
  documentDepth: ofQuery('documentDepth'),
  documentLines: ofQuery('documentLines'),
  documentTokens: ['api/graphql/execution/limits.test.ts', 'words without end'],
  nameCharacters: ofQuery('nameCharacters'),
  aliases: ofQuery('aliases'),
  directives: ofQuery('directives'),
  variables: ofQuery('variables'),
  mergedFields: [
    'api/graphql/execution/overlapping-fields.test.ts',
    'is refused if they are merged too often',
  ],
  keptDocumentCharacters: [
    'api/graphql/execution/text-cache.test.ts',
    'many long documents, each sent once, are not cached',
  ],
  namedDocumentCharacters: [
    'api/graphql/execution/documents.test.ts',
    'is evicted when newer documents fill the cache',
  ],
  operationCost: ['api/graphql/execution/cost.test.ts', 'pages within pages'],
  spentCost: [
    'api/graphql/execution/metered-services.test.ts',
    'because it has cost too much, it ends with that error, and so do its further reads',
  ],
  queryMs: ['api/graphql/execution/leaving.test.ts', 'end after the time limit, %s'],
  answerBytes: ['api/graphql/execution/answer-size.test.ts', 'on a socket, which stays open'],
  answerFields: [
    'api/graphql/execution/answer-size.test.ts',
    'includes the fields of lists without a price',
  ],
  pageSize: ofQuery('pageSize'),
  defaultPageSize: ofQuery('of page sizes apply to lists without first and last'),
  defaultUpdatesPageSize: ofQuery('of page sizes apply to lists without first and last'),
  filterAddresses: [
    'api/graphql/types/unspent-outputs.test.ts',
    'more addresses than a filter may have',
  ],
  activityPoints: [
    'api/graphql/types/activity.test.ts',
    'to: "2023-11-14T22:00:00Z", from: "2023-11-14T05:19:59Z"',
  ],
  asOfUpdates: [
    'service/address-as-of.test.ts',
    'an address with more updates than the limit is rejected',
  ],
  searchCharacters: ofQuery('of search are those that it applies'),
  searchHits: ['api/graphql/types/search.test.ts', 'at most twenty things of all kinds together'],
  operations: [
    'api/graphql/execution/leaving.test.ts',
    'are refused beyond their limit by each transport, until one ends',
  ],
  heldAnswerBytes: [
    'api/graphql/execution/leaving.test.ts',
    'end when their responses use too much memory together, which is then freed',
  ],
  connections: [
    'api/feed-ws.test.ts',
    'an upgrade over the limit of connections is refused until another client disconnects',
  ],
  subscriptions: ['api/feed-ws.test.ts', 'of all connections'],
  subscriptionsPerConnection: ['api/feed-ws.test.ts', 'of one connection'],
  subscriptionBytes: [
    'api/ws.test.ts',
    'a subscription may have 64 KiB, and a longer one is refused while the socket stays open',
  ],
  operationIdCharacters: [
    'api/ws.test.ts',
    'an id may have 256 characters, and a longer id closes the connection',
  ],
  connectionCost: [
    'api/graphql/execution/cost.test.ts',
    'may cost up to a limit, and a subscription that has ended no longer counts',
  ],
  clientConnections: [
    'api/client-limits.test.ts',
    'of one client are limited over all transports, apart from those of other clients',
  ],
  clientSubscriptions: [
    'api/client-limits.test.ts',
    'and long polls of one client are limited over all its connections',
  ],
  clientCost: ['api/client-shares.test.ts', 'with an empty share is refused by %s'],
  loopDelayMs: [
    'api/overload.test.ts',
    'an overloaded gateway refuses all requests except those of the operator and of the liveness probe',
  ],
  unsentBytes: [
    'api/client-limits.test.ts',
    'a client that requests long responses and reads none is disconnected when too many bytes wait',
  ],
  clientPayloads: [
    'api/client-quotas.test.ts',
    'has a limited number of payloads signed by all transports, and may still submit its own blocks',
  ],
  clientBytes: [
    'api/client-quotas.test.ts',
    'may submit a limited number of bytes of blocks, apart from other clients',
  ],
  freeDiskBytes: [
    'node/space-watch.test.ts',
    'a gateway with %o rejects new blocks with a named error, and continues to commit slots',
  ],
  heartbeatMs: [
    'api/client-limits.test.ts',
    'is disconnected when it answers no ping, and stays connected while it does',
  ],
  stalledWriteMs: [
    'api/stalled-writes.test.ts',
    'that its client does not read is cut off, even among many',
  ],
  feedAddresses: ['service/follow-ledger-updates.test.ts', '101 addresses'],
  followedChains: ['api/graphql/types/chain-record-changed.test.ts', 'too many chains'],
  mqttTopics: ['api/mqtt/broker.test.ts', 'has at most a thousand topics'],
  mqttPacketBytes: [
    'api/mqtt/packets.test.ts',
    'cuts a client whose packet is longer than any that it needs',
  ],
}

/** The page of a gateway without settings. */
export function limitsPage(): string {
  const rows = limitsOf(defaultLimits).map(({ name, value, unit, meaning, error, setting }) => {
    const [file, test] = present(limitTests[name], `a test of the limit ${name}`)
    const cells = [
      code(name),
      value.toLocaleString('en'),
      unit.toLowerCase(),
      meaning,
      code(error),
      code(setting),
      `${code(file)}: ${test}`,
    ]
    return `| ${cells.join(' | ')} |`
  })
  return `${[introduction, [...head, ...rows].join('\n')].join('\n\n')}\n`
}

const introduction = `# Limits

The response of the query \`limits\` without settings. A value equal to its limit is allowed; a greater one gets the error. The last
column names the test in \`test\` that fails without the limit. \`npm run reference\` generates this page from \`src/api/limit-list.ts\`.`

const head = [
  '| limit | value | unit | meaning | error | setting | test |',
  '| --- | --- | --- | --- | --- | --- | --- |',
]

function code(text = ''): string {
  return text === '' ? '' : `\`${text}\``
}
