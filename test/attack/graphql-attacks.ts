import { setTimeout as delay } from 'node:timers/promises'
import {
  type Attack,
  concurrently,
  graphqlRequest,
  openEventStream,
  openGraphqlSocket,
  scaled,
  send,
  sendBySocket,
  sendGraphql,
  sendUnread,
} from './target.ts'

/** Attacks with operations that need much work or have large responses. */

const repeat = (count: number, partOf: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => partOf(i)).join(' ')

const proofs = (aliases: number) =>
  `{ unspentOutputs(first: 1000) { nodes { ${repeat(aliases, (i) => `a${i}: proof { __typename }`)} } } }`

/** Its response becomes too large in the middle of a list, while fields of earlier items are still pending. */
const tooLarge = `{ unspentOutputs(first: 1000) { nodes { ${repeat(250, (i) => `${`a${i}`.padEnd(60, '_')}: outputId`)} proof { __typename } } } }`

/** Three levels of aliases over all types of the schema. */
const introspection = `{ ${repeat(6, (i) => `a${i}: __schema { ${repeat(6, (j) => `b${j}: types { ${repeat(6, (k) => `c${k}: fields { name type { name } }`)} }`)} }`)} }`

const costlySubscription = `subscription { ledgerUpdates { ... on LedgerUpdateBatch { ${repeat(20, (i) => `a${i}: updates { output { proof { __typename } } }`)} } } }`

/** Expensive, but within the limit. */
const allowedSubscription =
  'subscription { ledgerUpdates { __typename ... on LedgerUpdateBatch { updates { output { proof { __typename } } } } } }'

/** A response of about ten megabytes, within the limits of cost and bytes. */
const largeResponse = (block: string) =>
  `{ ${repeat(40, (i) => `b${i}: inspectBlock(input: { bytes: "${block}" }) { ... on BlockInspection { ${repeat(4, (j) => `a${j}: bytes`)} } }`)} }`

/** Hundreds of fields with one variable, of almost a megabyte: a cursor, a global id, or the name of a type. */
const sharingText = [
  'query ($c: String) { milestones(first: 1000) { nodes { blocks(first: 1, after: $c) { nodes { blockId } } } } }',
  `query ($c: String) { ${repeat(100, (i) => `a${i}: blocks(first: 1, after: $c) { nodes { blockId } }`)} }`,
  `query ($c: ID!) { nodes(ids: [${repeat(1_000, () => '$c')}]) { id } }`,
  `query ($c: String!) { ${repeat(300, (i) => `a${i}: __type(name: $c) { name }`)} }`,
]

/** Fragments in a path, of which the last one closes a cycle with each. The error of a cycle names all of its fragments. */
function cycles(count: number, nameLength: number): string {
  const name = (n: number) => `F${n}`.padEnd(nameLength, '_')
  const path = repeat(count, (n) => `fragment ${name(n)} on Query { ...${name(n + 1)} }`)
  const last = `fragment ${name(count)} on Query { ${repeat(count, (n) => `...${name(n)}`)} }`
  return `{ ...${name(0)} } ${path} ${last}`
}

const objectOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`member${n}`, 1]))

export const graphqlAttacks: readonly Attack[] = [
  {
    name: 'introspection on three levels',
    expected: ['OPERATION_TOO_COSTLY', 'TOO_MANY_ALIASES'],
    round: async (target) => {
      const socket = await openGraphqlSocket(target)
      const answers = await concurrently(scaled(target, 20), async (i) => [
        await sendGraphql(target, introspection),
        await sendBySocket(socket, `i${i}`, introspection),
        await openEventStream(target, introspection),
      ])
      return answers.flat()
    },
  },
  {
    name: 'large answers that are never read',
    expected: ['ok'],
    round: async (target) => {
      const request = graphqlRequest(largeResponse(target.largeBlock))
      const sockets = await concurrently(scaled(target, 8), () => sendUnread(target, request))
      return sockets.map((socket) => (socket === undefined ? 'refused' : 'ok'))
    },
  },
  {
    name: 'answers that become too large, by the executor',
    expected: ['ANSWER_TOO_LARGE'],
    round: (target) => {
      const accept = 'application/json;q=0.9'
      return concurrently(scaled(target, 4), () => sendGraphql(target, tooLarge, { accept }))
    },
  },
  {
    name: 'hundreds of blocks in one operation',
    expected: ['TOO_MANY_ALIASES', 'OPERATION_TOO_COSTLY'],
    round: (target) => {
      const blocks = repeat(200, (i) => `b${i}: inspectBlock(input: { bytes: $b }) { ...F }`)
      const fragment = `fragment F on BlockInspection { ${repeat(90, (i) => `a${i}: bytes`)} }`
      const query = `query ($b: Hex!) { ${blocks} } ${fragment}`
      const variables = { b: target.largeBlock }
      return concurrently(scaled(target, 8), () => sendGraphql(target, query, { variables }))
    },
  },
  {
    name: 'proofs of a thousand outputs, too many',
    expected: ['OPERATION_TOO_COSTLY'],
    round: (target) => concurrently(scaled(target, 20), () => sendGraphql(target, proofs(4))),
  },
  {
    name: 'proofs of a thousand outputs, and the client leaves',
    expected: ['TimeoutError', 'AbortError', '200'],
    round: (target) =>
      concurrently(scaled(target, 8), async (i) => {
        const leaving = new AbortController()
        const answer = sendGraphql(target, proofs(1), { signal: leaving.signal })
        await delay(20 + 10 * i)
        leaving.abort()
        return answer
      }),
  },
  {
    name: 'dear subscriptions',
    expected: ['OPERATION_TOO_COSTLY', 'SUBSCRIPTIONS_TOO_COSTLY'],
    round: async (target) => {
      const answers = await concurrently(scaled(target, 10), async (socketIndex) => {
        const socket = await openGraphqlSocket(target)
        const open = await concurrently(scaled(target, 50), (i) =>
          sendBySocket(socket, `s${i}`, i % 2 === 0 ? costlySubscription : allowedSubscription),
        )
        const stream = await openEventStream(
          target,
          socketIndex % 2 ? costlySubscription : allowedSubscription,
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
      return concurrently(scaled(target, 200), () =>
        sendGraphql(
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
      const query = `query ($b: JSON!) { ${repeat(100, (i) => `b${i}: inspectBlock(input: { json: $b }) { ... on BlockInspection { isSignatureValid } }`)} }`
      const variables = { b: target.wrongBlock }
      return concurrently(scaled(target, 10), () => sendGraphql(target, query, { variables }))
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
        `{ ${repeat(5_000, (i) => `a${i}: __typename`)} }`,
        `{ ...F } ${repeat(300, (i) => `fragment F${i || ''} on Query { ...F${i + 1} ...F${i + 1} }`)} fragment F300 on Query { __typename }`,
        '{ ...F } fragment F on Query { ...G } fragment G on Query { ...F }',
      ]
      const answers = await concurrently(scaled(target, 20), () =>
        Promise.all(documents.map((document) => sendGraphql(target, document))),
      )
      return answers.flat()
    },
  },
  {
    name: 'equal fields by the thousand',
    expected: ['200'],
    round: async (target) => {
      const documents = [
        `{ ${repeat(4_950, () => '__typename')} }`,
        `{ ${repeat(1_230, () => 'milestone { index }')} }`,
        `{ ${repeat(550, () => 'milestone(index: 1) { index }')} }`,
        `{ ${repeat(1_250, () => '...F')} } fragment F on Query { ${repeat(2_450, () => '__typename')} }`,
      ]
      const answers = await concurrently(scaled(target, 10), () =>
        Promise.all(documents.map((document) => sendGraphql(target, document))),
      )
      return answers.flat()
    },
  },
  {
    name: 'fields by the thousand that continue together',
    expected: ['200'],
    round: async (target) => {
      const documents = [
        '{ unspentOutputs(first: 1000) { nodes { unspentProof { commitmentId } } } }',
        '{ milestones(first: 1000) { nodes { updates(first: 20) { nodes { outputId } } } } }',
        `{ ledgerUpdates(first: 1000) { nodes { ${repeat(80, (i) => `a${i}: milestone { index }`)} } } }`,
      ]
      const answers = await concurrently(scaled(target, 10), () =>
        Promise.all(documents.map((document) => sendGraphql(target, document))),
      )
      return answers.flat()
    },
  },
  {
    name: 'errors about long texts with open quotes',
    expected: ['BAD_USER_INPUT', 'GRAPHQL_PARSE_FAILED'],
    round: async (target) => {
      const quotes = '\\"'.repeat(150_000)
      const query = 'query ($i: Int) { milestones(first: $i) { __typename } }'
      const answers = await concurrently(scaled(target, 10), async () => [
        await sendGraphql(target, query, { variables: { i: { [`"${quotes}\\`]: 1 } } }),
        await sendGraphql(target, `{ milestones(first: "${quotes}) { __typename } }`),
      ])
      return answers.flat()
    },
  },
  {
    name: 'errors that repeat most of a document',
    expected: ['GRAPHQL_VALIDATION_FAILED'],
    round: async (target) => {
      const name = 'x'.repeat(900_000)
      const documents = [
        cycles(480, 600),
        `query ${name} { ${repeat(150, (i) => `milestones(first: $v${i}) { __typename }`)} }`,
        `query ${name} (${repeat(240, (i) => `$v${i}: Int`)}) { __typename }`,
      ]
      const answers = await concurrently(scaled(target, 10), () =>
        Promise.all(documents.map((document) => sendGraphql(target, document))),
      )
      return answers.flat()
    },
  },
  {
    name: 'variables that are refused many times',
    expected: ['BAD_USER_INPUT'],
    round: async (target) => {
      const query = 'query ($f: OutputFilter) { outputs(filter: $f) { nodes { outputId } } }'
      // The greatest numbers of values that a body may have; an empty object counts twice.
      const filters = [objectOf(24_500), { kinds: Array(12_000).fill({}) }]
      const socket = await openGraphqlSocket(target)
      const answers = await concurrently(scaled(target, 10), async (i) => {
        const variables = { f: filters[i % filters.length] }
        return [
          await sendGraphql(target, query, { variables }),
          await sendBySocket(socket, `v${i}`, query, variables),
        ]
      })
      return answers.flat()
    },
  },
  {
    name: 'one text of a megabyte for hundreds of fields',
    expected: ['CURSOR_MALFORMED', 'NODE_ID_MALFORMED'],
    round: async (target) => {
      const variables = { c: Buffer.alloc(700_000, '.:').toString('base64url') }
      const answers = await concurrently(scaled(target, 10), () =>
        Promise.all(sharingText.map((query) => sendGraphql(target, query, { variables }))),
      )
      return answers.flat()
    },
  },
  {
    name: 'hashes of documents that are not there',
    expected: ['PERSISTED_QUERY_NOT_FOUND', 'PERSISTED_QUERY_HASH_MISMATCH'],
    round: (target) =>
      concurrently(scaled(target, 200), (i) => {
        const sha256Hash = i.toString(16).padStart(64, '0')
        const extensions = { persistedQuery: { version: 1, sha256Hash } }
        const query = i % 2 === 0 ? undefined : '{ __typename }'
        return send(target, '/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query, extensions }),
        })
      }),
  },
]
