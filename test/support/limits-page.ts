import { limitsOf } from '../../src/api/limit-list.ts'
import { defaultLimits } from '../../src/api/limits.ts'
import { present } from '../../src/lib/assert.ts'

/** The content of `docs/limits.md`: each limit with the test that fails without it. */

/** A test: its file in `test`, and its title or the title of its row. */
export type NamedTest = readonly [file: string, name: string]

const ofQuery = (limit: string): NamedTest => ['api/graphql/limits-query.test.ts', limit]

/** The tests by the name of the limit. */
export const limitTests: Readonly<Record<string, NamedTest>> = {
  headBytes: [
    'api/unreadable.test.ts',
    'reads a head that is nearly as long as it may be, and none that is longer',
  ],
  bodyBytes: ofQuery('bodyBytes'),
  requestMs: ['api/unreadable.test.ts', 'waits for a body as long as it may take'],
  unansweredRequests: [
    'api/paced-reading.test.ts',
    'of many requests parses no more than some before they are answered',
  ],
  turnsAwaited: ['api/sockets.test.ts', 'of a client with more'],
  blockBytes: [
    'service/oversize.test.ts',
    'is refused by the inspection of a block, without a look at a signature',
  ],
  accessNodes: ['api/rest/chain-record.test.ts', 'one node too many'],
  accessNodeCharacters: ['api/rest/chain-record.test.ts', 'a node too long'],
  documentDepth: ofQuery('documentDepth'),
  documentLines: ofQuery('documentLines'),
  documentTokens: ['api/graphql/limits.test.ts', 'words without end'],
  aliases: ofQuery('aliases'),
  directives: ofQuery('directives'),
  variables: ofQuery('variables'),
  mergedFields: [
    'api/graphql/overlapping-fields.test.ts',
    'is refused where they are merged again and again',
  ],
  keptDocumentCharacters: [
    'api/graphql/text-cache.test.ts',
    'many long documents, each asked once, are not kept',
  ],
  namedDocumentCharacters: [
    'api/graphql/documents.test.ts',
    'is forgotten when newer ones fill what is kept',
  ],
  operationCost: ['api/graphql/cost.test.ts', 'pages within pages'],
  spentCost: [
    'api/graphql/metered-services.test.ts',
    'because it has cost too much, it ends by that name, and so does what it still reads',
  ],
  queryMs: ['api/graphql/leaving.test.ts', 'end where they have gone on for too long, %s'],
  answerBytes: ['api/graphql/answer-size.test.ts', 'on a socket, which stays'],
  answerFields: ['api/graphql/answer-size.test.ts', 'are fields too, of lists that have no price'],
  pageSize: ofQuery('pageSize'),
  defaultPageSize: ofQuery('that are sizes of pages are those of lists without first and last'),
  defaultUpdatesPageSize: ofQuery(
    'that are sizes of pages are those of lists without first and last',
  ),
  activityPoints: [
    'api/graphql/activity.test.ts',
    'to: "2023-11-14T22:00:00Z", from: "2023-11-14T05:19:59Z"',
  ],
  asOfUpdates: [
    'service/address-as-of.test.ts',
    'an address with more updates than are read is refused by name',
  ],
  searchCharacters: ofQuery('that are of search are those that it keeps'),
  searchHits: ['api/graphql/search.test.ts', 'at most twenty things, whatever they are'],
  operations: [
    'api/graphql/leaving.test.ts',
    'are refused beyond their number, by each transport, until one is over',
  ],
  heldAnswerBytes: [
    'api/graphql/leaving.test.ts',
    'end where their answers hold too much memory together, which is given back',
  ],
  connections: [
    'api/feed-ws.test.ts',
    'of connections: the upgrade is refused, and taken again when another has left',
  ],
  subscriptions: ['api/feed-ws.test.ts', 'of all connections'],
  subscriptionsPerConnection: ['api/feed-ws.test.ts', 'of one connection'],
  connectionCost: [
    'api/graphql/cost.test.ts',
    'may cost as much as some operations, and what is ended counts no more',
  ],
  clientConnections: [
    'api/client-limits.test.ts',
    'of one client on all transports are limited, and others have theirs',
  ],
  clientSubscriptions: [
    'api/client-limits.test.ts',
    'and long polls of one client are limited over all its connections',
  ],
  clientCost: ['api/client-shares.test.ts', 'that has nothing left is refused by %s'],
  loopDelayMs: [
    'api/overload.test.ts',
    'a gateway with too much to do refuses all but the operator and the probe of its life',
  ],
  unsentBytes: [
    'api/client-limits.test.ts',
    'a client that asks for long answers and reads none is cut when too many of them wait',
  ],
  clientPayloads: [
    'api/client-quotas.test.ts',
    'has so many payloads signed by every transport, and its own blocks still taken',
  ],
  clientBytes: ['api/client-quotas.test.ts', 'adds so many bytes of blocks, and others theirs'],
  freeDiskBytes: [
    'node/space-watch.test.ts',
    'a gateway with %o refuses new blocks by name, and slots go on',
  ],
  heartbeatMs: [
    'api/client-limits.test.ts',
    'is cut when it answers no probe, and stays as long as it answers',
  ],
  stalledWriteMs: ['api/stalled-writes.test.ts', 'that nobody reads is cut, however many wait'],
  feedAddresses: ['service/follow-ledger-updates.test.ts', '101 addresses'],
  followedChains: ['api/graphql/chain-record-changed.test.ts', 'too many chains'],
  mqttTopics: ['api/mqtt/broker.test.ts', 'has at most a thousand topics'],
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
