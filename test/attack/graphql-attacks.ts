import { setTimeout as delay } from 'node:timers/promises'
import {
  type Attack,
  ask,
  askGraphql,
  askSocket,
  askStream,
  atOnce,
  graphqlRequest,
  many,
  openGraphqlSocket,
  sendUnread,
} from './target.ts'

/** Operations that ask for much work or for large answers. */

const times = (count: number, one: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => one(i)).join(' ')

const proofs = (aliases: number) =>
  `{ unspentOutputs(first: 1000) { nodes { ${times(aliases, (i) => `a${i}: proof { __typename }`)} } } }`

/** Becomes too large in the middle of a list, while fields of the items before are waited for. */
const tooLarge = `{ unspentOutputs(first: 1000) { nodes { ${times(250, (i) => `${`a${i}`.padEnd(60, '_')}: outputId`)} proof { __typename } } } }`

/** Three levels of aliases over all types. */
const introspection = `{ ${times(6, (i) => `a${i}: __schema { ${times(6, (j) => `b${j}: types { ${times(6, (k) => `c${k}: fields { name type { name } }`)} }`)} }`)} }`

const dearSubscription = `subscription { ledgerUpdates { ... on LedgerUpdateBatch { ${times(20, (i) => `a${i}: updates { output { proof { __typename } } }`)} } } }`

/** Dear, and within the limit. */
const dearestSubscription =
  'subscription { ledgerUpdates { __typename ... on LedgerUpdateBatch { updates { output { proof { __typename } } } } } }'

/** Within the limits of cost and of bytes, some ten megabytes of answer. */
const largeAnswer = (block: string) =>
  `{ ${times(40, (i) => `b${i}: inspectBlock(input: { bytes: "${block}" }) { ... on BlockInspection { ${times(4, (j) => `a${j}: bytes`)} } }`)} }`

export const graphqlAttacks: readonly Attack[] = [
  {
    name: 'introspection on three levels',
    expected: ['OPERATION_TOO_COSTLY', 'TOO_MANY_ALIASES'],
    round: async (target) => {
      const socket = await openGraphqlSocket(target)
      const answers = await atOnce(many(target, 20), async (i) => [
        await askGraphql(target, introspection),
        await askSocket(socket, `i${i}`, introspection),
        await askStream(target, introspection),
      ])
      return answers.flat()
    },
  },
  {
    name: 'large answers that are never read',
    expected: ['ok'],
    round: async (target) => {
      const request = graphqlRequest(largeAnswer(target.largeBlock))
      const sockets = await atOnce(many(target, 8), () => sendUnread(target, request))
      return sockets.map((socket) => (socket === undefined ? 'refused' : 'ok'))
    },
  },
  {
    name: 'answers that become too large, by the executor',
    expected: ['ANSWER_TOO_LARGE'],
    round: (target) => {
      const accept = 'application/json;q=0.9'
      return atOnce(many(target, 4), () => askGraphql(target, tooLarge, { accept }))
    },
  },
  {
    name: 'hundreds of blocks in one operation',
    expected: ['TOO_MANY_ALIASES', 'OPERATION_TOO_COSTLY'],
    round: (target) => {
      const blocks = times(200, (i) => `b${i}: inspectBlock(input: { bytes: $b }) { ...F }`)
      const fragment = `fragment F on BlockInspection { ${times(90, (i) => `a${i}: bytes`)} }`
      const query = `query ($b: Hex!) { ${blocks} } ${fragment}`
      const variables = { b: target.largeBlock }
      return atOnce(many(target, 8), () => askGraphql(target, query, { variables }))
    },
  },
  {
    name: 'proofs of a thousand outputs, too many',
    expected: ['OPERATION_TOO_COSTLY'],
    round: (target) => atOnce(many(target, 20), () => askGraphql(target, proofs(4))),
  },
  {
    name: 'proofs of a thousand outputs, and the client leaves',
    expected: ['TimeoutError', 'AbortError', '200'],
    round: (target) =>
      atOnce(many(target, 8), async (i) => {
        const leaving = new AbortController()
        const answer = askGraphql(target, proofs(1), { signal: leaving.signal })
        await delay(20 + 10 * i)
        leaving.abort()
        return answer
      }),
  },
  {
    name: 'dear subscriptions',
    expected: ['OPERATION_TOO_COSTLY', 'SUBSCRIPTIONS_TOO_COSTLY'],
    round: async (target) => {
      const answers = await atOnce(many(target, 10), async (socketIndex) => {
        const socket = await openGraphqlSocket(target)
        const open = await atOnce(many(target, 50), (i) =>
          askSocket(socket, `s${i}`, i % 2 === 0 ? dearSubscription : dearestSubscription),
        )
        const stream = await askStream(
          target,
          socketIndex % 2 ? dearSubscription : dearestSubscription,
        )
        return [...open, stream]
      })
      return answers.flat()
    },
  },
  {
    name: 'documents that differ',
    expected: ['200'],
    round: (target) => {
      const filling = 'x'.repeat(60_000)
      return atOnce(many(target, 200), () =>
        askGraphql(
          target,
          `query Q${Math.random().toString(36).slice(2)} { __typename } # ${filling}`,
        ),
      )
    },
  },
  {
    name: 'wrong signatures',
    expected: ['200'],
    round: (target) => {
      const query = `query ($b: JSON!) { ${times(100, (i) => `b${i}: inspectBlock(input: { json: $b }) { ... on BlockInspection { isSignatureValid } }`)} }`
      const variables = { b: target.wrongBlock }
      return atOnce(many(target, 10), () => askGraphql(target, query, { variables }))
    },
  },
  {
    name: 'documents that nest, repeat and go round',
    expected: ['DOCUMENT_TOO_DEEP', 'TOO_MANY_DIRECTIVES'],
    round: async (target) => {
      const documents = [
        '{'.repeat(50_000),
        `{ a(b: ${'['.repeat(5_000)}${']'.repeat(5_000)}) }`,
        `{ __typename ${'@skip(if: false) '.repeat(2_000)} }`,
        `{ ${times(5_000, (i) => `a${i}: __typename`)} }`,
        `{ ...F } ${times(300, (i) => `fragment F${i || ''} on Query { ...F${i + 1} ...F${i + 1} }`)} fragment F300 on Query { __typename }`,
        '{ ...F } fragment F on Query { ...G } fragment G on Query { ...F }',
      ]
      const answers = await atOnce(many(target, 20), () =>
        Promise.all(documents.map((document) => askGraphql(target, document))),
      )
      return answers.flat()
    },
  },
  {
    name: 'equal fields by the thousand',
    expected: ['200'],
    round: async (target) => {
      const documents = [
        `{ ${times(9_900, () => '__typename')} }`,
        `{ ${times(2_450, () => 'milestone { index }')} }`,
        `{ ${times(1_100, () => 'milestone(index: 1) { index }')} }`,
        `{ ${times(2_400, () => '...F')} } fragment F on Query { ${times(4_000, () => '__typename')} }`,
      ]
      const answers = await atOnce(many(target, 10), () =>
        Promise.all(documents.map((document) => askGraphql(target, document))),
      )
      return answers.flat()
    },
  },
  {
    name: 'hashes of documents that are not there',
    expected: ['PERSISTED_QUERY_NOT_FOUND', 'PERSISTED_QUERY_HASH_MISMATCH'],
    round: (target) =>
      atOnce(many(target, 200), (i) => {
        const sha256Hash = i.toString(16).padStart(64, '0')
        const extensions = { persistedQuery: { version: 1, sha256Hash } }
        const query = i % 2 === 0 ? undefined : '{ __typename }'
        return ask(target, '/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query, extensions }),
        })
      }),
  },
]
