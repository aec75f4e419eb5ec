import type { LargeLedger } from './data.ts'
import { cursorOf, type Question } from './questions.ts'

/** The compared servers: the requests to each for a page, and the conversion of its responses to a common form. */

/** A request; a request with a body is a POST of JSON. */
export interface PageRequest {
  readonly path: string
  readonly body?: string
}

/** A compared server. */
export interface Peer {
  readonly name: string
  /** Its program in `test/bench/peers`; `undefined` for the gateway. */
  readonly file: string | undefined
  readonly onlyPostgresql?: true
  readonly asks: { readonly [K in Kind]?: Ask }
}

/** Creates the request for a kind of page, and converts the response to the common form. */
export interface Ask {
  ask(question: Question, ledger: LargeLedger): PageRequest
  read(body: Any, question: Question, ledger: LargeLedger): object
}

/**
 * The kinds of pages: by GraphQL the plain fields, these with the output of each update, and these with the output, its transaction and its
 * block; and the REST list of the explorer.
 */
export type Kind = 'page' | 'outputs' | 'nested' | 'rest'

// biome-ignore lint/suspicious/noExplicitAny: the responses of the servers differ
type Any = any

/** All fields of an update that lead to no other object. */
export const plainFields = [
  'seq',
  'ordinal',
  'address',
  'class',
  'roles',
  'outputId',
  'isSpent',
  'milestoneIndex',
  'milestoneTimestamp',
  'balance',
  'historyHash',
]
const plain = plainFields.join(' ')
const pageInfo = 'pageInfo { hasNextPage hasPreviousPage startCursor endCursor }'
const output = 'outputId bookedSlot isSpent spentSlot transactionId blockId bytes'
/** The output of an update. */
const withOutput = `output { ${output} }`
/** Its output, the transaction that created it, and the block of that transaction. */
const withBlock = `output {
  ${output} transaction { transactionId slot state block { blockId slot issuerId issuingTime state bytes } }
}`

const variables = '$address: String!, $first: Int!, $after: String'
const list = 'ledgerUpdates(address: $address, first: $first, after: $after)'
const nodes = (fields: string) =>
  `query (${variables}) { ${list} { totalCount ${pageInfo} nodes { cursor ${fields} } } }`
const edges = (fields: string) =>
  `query (${variables}) { ${list} { totalCount ${pageInfo} edges { cursor node { ${fields} } } } }`

/** Cursors of PostGraphile start with the hash of the order. */
const newestFirst = '6658e5b82c'
const postgraphilePage = `query ($address: Base64EncodedBinary!, $first: Int!, $after: Cursor) {
  allLedgerUpdates(condition: { address: $address, class: 0 }, orderBy: PRIMARY_KEY_DESC, first: $first, after: $after) {
    totalCount ${pageInfo} edges { cursor node { ${plain.replace('milestoneTimestamp ', '')} } }
  }
}`
/** The gateway. */
export const gatewayPeer: Peer = {
  name: 'gateway',
  file: undefined,
  asks: {
    page: graphql(nodes(plain), gatewayAfter),
    outputs: graphql(nodes(`${plain} ${withOutput}`), gatewayAfter),
    nested: graphql(nodes(`${plain} ${withBlock}`), gatewayAfter),
    rest: {
      ask: ({ address, first, begin }) => {
        const { slot, outputId, isSpent } = begin ?? {}
        const cursor = begin === undefined ? '' : `&cursor=${slot}.${outputId}.${isSpent}.${first}`
        const path = `/api/explorer/v2/ledger/updates/by-address/${address}`
        return { path: `${path}?pageSize=${first}&sort=newest${cursor}` }
      },
      read: restOf,
    },
  },
}

/** Bare `node:http`. */
export const bare: Peer = {
  name: 'bare node:http',
  file: 'bare.ts',
  asks: {
    page: {
      ask: (question) => ({ path: `/?${plainQuery(question)}` }),
      read: (body) => pageOf(body.data.ledgerUpdates),
    },
    rest: { ask: (question) => ({ path: `/rest?${plainQuery(question)}` }), read: restOf },
  },
}

/** Mercurius. */
export const mercurius: Peer = {
  name: 'Mercurius, jit, prepared SQL',
  file: 'mercurius.ts',
  asks: { page: graphql(nodes(plain), ({ after }) => after && String(after.seq)) },
}

const pothosAfter = ({ after }: Question) =>
  after && Buffer.from(`GPC:I:${after.seq}`).toString('base64')

/** An ordinary server: Pothos with Prisma's plugin and yoga, with default settings. */
export const pothos: Peer = {
  name: "Pothos, Prisma's plugin, yoga",
  file: 'pothos.ts',
  asks: {
    page: graphql(edges(plain), pothosAfter),
    outputs: graphql(edges(`${plain} ${withOutput}`), pothosAfter),
    nested: graphql(edges(`${plain} ${withBlock}`), pothosAfter),
  },
}

/**
 * PostGraphile. Its responses contain no Bech32 addresses, role names and milestone timestamps, and bytes in Base64. The client adds
 * and converts these, so the server does slightly less than the others. It computes `hasPreviousPage` only with `last`, as Relay allows.
 */
export const postgraphile: Peer = {
  name: 'PostGraphile 5',
  file: 'postgraphile.ts',
  onlyPostgresql: true,
  asks: {
    page: {
      ask: ({ addressBytes, first, after }) => {
        const cursor = after && Buffer.from(`["${newestFirst}","${after.seq}"]`).toString('base64')
        return post(postgraphilePage, {
          address: addressBytes.toString('base64'),
          first,
          after: cursor,
        })
      },
      read: (body, { address, after }, { began }) => {
        const { pageInfo, totalCount, edges } = dataOf(body).allLedgerUpdates
        const hex = (text: string) => `0x${Buffer.from(text, 'base64').toString('hex')}`
        const converted = edges.map(({ cursor, node }: Any) => ({
          cursor,
          node: {
            ...node,
            address,
            class: node.class === 0 ? 'OWNED' : 'MENTIONED',
            roles: node.roles === 1 ? ['OWNER'] : [],
            outputId: hex(node.outputId),
            milestoneIndex: Number(node.milestoneIndex),
            milestoneTimestamp: began + Number(node.milestoneIndex),
            historyHash: hex(node.historyHash),
          },
        }))
        const hasPreviousPage = after !== undefined
        return pageOf({ totalCount, pageInfo: { ...pageInfo, hasPreviousPage }, edges: converted })
      },
    },
  },
}

/** In the order of the tables. */
export const peers: readonly Peer[] = [gatewayPeer, pothos, postgraphile, mercurius, bare]

function gatewayAfter({ after }: Question, ledger: LargeLedger): string | undefined {
  return after && cursorOf(ledger, after)
}

type After = (question: Question, ledger: LargeLedger) => string | undefined

function graphql(query: string, afterOf: After): Ask {
  return {
    ask: (question, ledger) => {
      const { address, first } = question
      return post(query, { address, first, after: afterOf(question, ledger) })
    },
    read: (body) => pageOf(dataOf(body).ledgerUpdates),
  }
}

function post(query: string, variables: object): PageRequest {
  return { path: '/graphql', body: JSON.stringify({ query, variables }) }
}

function dataOf({ data, errors }: Any): Any {
  if (errors !== undefined) throw new Error(JSON.stringify(errors))
  return data
}

function plainQuery({ address, first, after }: Question): string {
  return `address=${address}&first=${first}${after === undefined ? '' : `&after=${after.seq}`}`
}

/** Removes the cursors of a page, because their form differs between servers. Throws if the end cursors are not those of the rows. */
function pageOf({ totalCount, pageInfo, nodes, edges }: Any): object {
  const rows = nodes ?? edges.map(({ cursor, node }: Any) => ({ cursor, ...node }))
  const { startCursor, endCursor, ...info } = pageInfo
  if (startCursor !== rows[0].cursor || endCursor !== rows.at(-1).cursor) {
    throw new Error('the cursors of the page differ from those of its rows')
  }
  const updates = rows.map(({ cursor: _, ...row }: Any) => row)
  return { totalCount: String(totalCount), ...info, updates }
}

function restOf({ address, items, cursor }: Any): object {
  return { address, items, hasMore: cursor !== undefined }
}
