import { addressOf, user } from '../support/wallet.ts'
import type { OwnInit } from './from-address.ts'

/** The requests of the clients that measure. */

/** A request by HTTP. */
export interface OtherRequest {
  readonly path: string
  readonly init?: OwnInit
  /** A text that the response must contain. */
  readonly expected: string
}

const address = addressOf(user(3))

/** The query by HTTP and by WebSocket. */
export const query = `{ address(address: "${address}") { balance { total } updates(first: 10) { nodes { outputId } } } }`

const feed = `subscription { ledgerUpdates(addresses: ["${address}"]) { __typename } }`
const graphql = (query: string) => `/graphql?${new URLSearchParams({ query })}`

/** The requests by HTTP. */
export const otherRequests: readonly OtherRequest[] = [
  {
    path: '/graphql',
    init: {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    },
    expected: 'outputId',
  },
  { path: graphql('{ milestone { index } }'), expected: 'index' },
  {
    path: `/api/explorer/v2/ledger/updates/by-address/${address}?pageSize=10`,
    expected: 'outputId',
  },
  // Opens a new connection each time, as a new client does.
  {
    path: '/api/core/v3/info',
    init: { headers: { connection: 'close' } },
    expected: 'latestCommitmentId',
  },
  // Opens a feed as an event stream, and closes it after its first event.
  {
    path: graphql(feed),
    init: { headers: { accept: 'text/event-stream' }, stream: 'closed' },
    expected: 'FeedOpened',
  },
]

/** Whether a response is the expected one. */
export function isAnswer({ expected }: OtherRequest, response: { status: number; text: string }) {
  const { status, text } = response
  return status === 200 && text.includes(expected) && !text.includes('"errors"')
}

/** The responses of a gateway: the payload of the query by WebSocket, and the others by `keyOf`. */
export interface Recorded {
  readonly socketPayload: string
  readonly responses: Readonly<Record<string, RecordedResponse>>
}

/** A response of the gateway. An event stream stays open after the text. */
export interface RecordedResponse {
  readonly type: string
  readonly text: string
}

/** The key of the response to a request. Other clients always send the same body. */
export function keyOf(method: string, path: string): string {
  return `${method} ${path}`
}
