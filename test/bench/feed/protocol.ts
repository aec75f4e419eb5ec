/** The commands of the feed benchmark to its server and its clients, which run in other processes, and their replies. */

/** The server of the clients: (a) bare `ws` with prepared bytes, (b) graphql-ws with one execution per subscriber, (c) the gateway. */
export type Mode = 'bare' | 'each' | 'gateway'

/** The paths of the modes on their servers. */
export const pathOf: Readonly<Record<Mode, string>> = {
  bare: '/bare',
  each: '/each',
  gateway: '/graphql',
}

/** A command to the server. */
export type ServerCommand =
  /** Commits a slot with one update for each of the addresses, which are given by number. */
  | { readonly do: 'commit'; readonly addresses: readonly number[]; readonly mode: Mode }
  | { readonly do: 'usage'; readonly collect: boolean }
  | { readonly do: 'end' }

/** The state of the server. */
export interface Usage {
  /** The processor time of the process in microseconds. */
  readonly cpu: number
  /** Resident memory in bytes. */
  readonly rss: number
  /** The number of reads of the log. */
  readonly reads: number
  /** The number of live feeds. */
  readonly live: number
  /** The number of open connections to the servers (a) and (b). */
  readonly others: number
}

/** A reply of the server. */
export interface ServerReply {
  readonly usage: Usage
  /** The time of the commit in nanoseconds, by the clock that all processes of a machine share. */
  readonly committedAt: string
  readonly milestoneIndex: number
  readonly port: number
  readonly barePort: number
  readonly cursor: string
}

/** A command to a process of clients. */
export type ClientCommand =
  | {
      readonly do: 'open'
      readonly mode: Mode
      readonly port: number
      readonly count: number
      /** The number of the first client's address, with the next numbers for the other clients; one address for all; or the whole ledger. */
      readonly firstAddress: number | 'one' | 'all'
      readonly after: string | undefined
      readonly atOnce: number
    }
  /** Makes the newest client read or stop reading. */
  | { readonly do: 'read'; readonly isReading: boolean }
  | { readonly do: 'count' }
  /** Returns the latencies of the deliveries since the former command; `committedAt` are the commit times of the milestones. */
  | { readonly do: 'latencies'; readonly committedAt: readonly (readonly [number, string])[] }
  | { readonly do: 'cut' }
  | { readonly do: 'end' }

/** A reply of a process of clients. */
export interface ClientReply {
  /** The number of deliveries since the former `latencies` command. */
  readonly deliveries: number
  /** Milliseconds from commit to client, unsorted. */
  readonly latencies: readonly number[]
  /** The length of the newest delivery in bytes. */
  readonly bytes: number
}

/** The time in nanoseconds, by the clock that all processes of a machine share. */
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
