/** What the benchmark of the feed says to its server and to its clients, each a process of its own. */

/** How clients are told: (a) ready bytes by bare `ws`, (b) graphql-ws with an execution each, (c) ours. */
export type Mode = 'bare' | 'each' | 'ours'

/** The paths of the modes on their servers. */
export const pathOf: Readonly<Record<Mode, string>> = {
  bare: '/bare',
  each: '/each',
  ours: '/graphql',
}

/** What the server can be asked. */
export type ServerCommand =
  /** Commits a slot in which each of these addresses, by number, gets so many updates. */
  | { readonly do: 'commit'; readonly addresses: readonly number[]; readonly mode: Mode }
  | { readonly do: 'usage'; readonly collect: boolean }
  | { readonly do: 'end' }

/** The state of the server. */
export interface Usage {
  /** CPU time so far, in microseconds. */
  readonly cpu: number
  /** Resident memory in bytes. */
  readonly rss: number
  /** Reads of the log so far. */
  readonly reads: number
  /** Open feeds that are told as it happens. */
  readonly live: number
  /** Open connections of the bare server and of the one with an execution each. */
  readonly others: number
}

/** What the server answers. */
export interface ServerReply {
  readonly usage: Usage
  /** When the commit was done, by the clock that all processes of a machine share, in nanoseconds. */
  readonly committedAt: string
  readonly milestoneIndex: number
  readonly port: number
  readonly barePort: number
  readonly cursor: string
}

/** What a process of clients can be asked. */
export type ClientCommand =
  | {
      readonly do: 'open'
      readonly mode: Mode
      readonly port: number
      readonly count: number
      /** The address of the first client, each one its own; one address for all; or the whole ledger. */
      readonly firstAddress: number | 'one' | 'all'
      readonly after: string | undefined
      readonly atOnce: number
    }
  /** Whether the newest client reads. */
  | { readonly do: 'read'; readonly isReading: boolean }
  | { readonly do: 'count' }
  /** The latencies of what came since the last time, given when each milestone was committed. */
  | { readonly do: 'latencies'; readonly committedAt: readonly (readonly [number, string])[] }
  | { readonly do: 'cut' }
  | { readonly do: 'end' }

/** What the clients answer. */
export interface ClientReply {
  /** Deliveries since the last time. */
  readonly deliveries: number
  /** Milliseconds from commit to client, in no order. */
  readonly latencies: readonly number[]
  /** The length of the newest delivery in bytes. */
  readonly bytes: number
}

/** Nanoseconds on the clock that all processes of a machine share. */
export function sharedNow(): bigint {
  return process.hrtime.bigint()
}

/** The document that all clients send. */
export const feedQuery = /* GraphQL */ `
  subscription Feed($addresses: [String!], $after: String) {
    ledgerUpdates(addresses: $addresses, after: $after) {
      __typename
      ... on FeedOpened { cursor }
      ... on LedgerUpdateBatch {
        milestoneIndex
        cursor
        previousCursor
        updates { address class ordinal outputId isSpent milestoneIndex milestoneTimestamp historyHash }
      }
      ... on FeedProgress { cursor }
      ... on FeedNotice { topic cursor }
      ... on FeedReset { reason }
    }
  }
`
