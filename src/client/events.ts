/** The events of a feed in their wire format (docs/feed.md). */

/** Bytes as text: `0x` and two hexadecimal digits per byte. */
export type HexText = `0x${string}`

/** Why an update is listed under an address: the address owns the output, or the output mentions it. */
export type UpdateClass = 'OWNED' | 'MENTIONED'

/** An output that was created or spent, listed under one address. */
export interface FeedUpdate {
  readonly cursor: string
  /** Position among the updates of this address and class, as decimal text: 1, 2, 3 … */
  readonly ordinal: string
  /** Address as Bech32 text. */
  readonly address: string
  readonly class: UpdateClass
  readonly roles: readonly string[]
  readonly outputId: HexText
  readonly isSpent: boolean
  readonly milestoneIndex: number
  /** End of the milestone, as Unix time in seconds. */
  readonly milestoneTimestamp: number
  readonly historyHash: HexText
}

/** An output that passed to its return address because its expiration slot was reached. */
export interface FeedHandover {
  readonly outputId: HexText
  readonly from: string
  readonly to: string
  readonly milestoneIndex: number
}

/** The latest ordinal and history hash of an address and class at a cursor. */
export interface FeedHistoryPoint {
  readonly address: string
  readonly class: UpdateClass
  readonly ordinal: string
  readonly historyHash: HexText
}

/** An event of a feed. Its updates also have the fields that the caller selected. */
export type FeedEvent<Fields = unknown> =
  | {
      readonly __typename: 'FeedOpened'
      readonly cursor: string
      readonly oldestCursor: string
      readonly tipCursor: string
      readonly mode: FeedMode
      readonly milestoneIndex: number
      readonly start: readonly FeedHistoryPoint[]
    }
  | {
      readonly __typename: 'FeedSnapshot'
      readonly cursor: string
      readonly outputIds: readonly HexText[]
      readonly isLast: boolean
    }
  | {
      readonly __typename: 'LedgerUpdateBatch'
      readonly previousCursor: string
      readonly cursor: string
      readonly milestoneIndex: number
      readonly updates: readonly (FeedUpdate & Fields)[]
    }
  | {
      readonly __typename: 'FeedProgress'
      readonly previousCursor: string
      readonly cursor: string
      readonly milestoneIndex: number
      readonly mode: FeedMode
    }
  | {
      readonly __typename: 'FeedNotice'
      readonly topic: string
      readonly cursor: string
      readonly closesWithinMs: number | null
      readonly expiresAt: number | null
      readonly handover: FeedHandover | null
    }
  | {
      readonly __typename: 'FeedReset'
      readonly reason: 'LOG_REPLACED' | 'LOG_PRUNED'
      readonly oldestCursor: string
      readonly tipCursor: string
    }

/** Whether a feed sends updates as they are committed (`LIVE`), or still reads older updates (`CATCHING_UP`). */
export type FeedMode = 'CATCHING_UP' | 'LIVE'

/** The subscription document that the client sends, whose updates also select the first fragment of `fragments`. */
export function feedDocumentWith(fragments: string): string {
  const [, name] = /^\s*fragment\s+(\w+)/m.exec(fragments) ?? []
  const spread = name === undefined ? '' : ` ...${name}`
  return /* GraphQL */ `
  subscription Follow(
    $addresses: [String!], $classes: [UpdateClass!]!, $after: String, $afterMilestone: UInt32, $snapshot: Boolean!
  ) {
    event: ledgerUpdates(
      addresses: $addresses, classes: $classes, after: $after, afterMilestone: $afterMilestone, snapshot: $snapshot
    ) {
      __typename
      ... on FeedOpened {
        cursor oldestCursor tipCursor mode milestoneIndex
        start { address class ordinal historyHash }
      }
      ... on FeedSnapshot { cursor outputIds isLast }
      ... on LedgerUpdateBatch {
        previousCursor cursor milestoneIndex
        updates {
          cursor ordinal address class roles outputId isSpent milestoneIndex milestoneTimestamp historyHash${spread}
        }
      }
      ... on FeedProgress { previousCursor cursor milestoneIndex mode }
      ... on FeedNotice {
        topic cursor closesWithinMs expiresAt
        handover { outputId from to milestoneIndex }
      }
      ... on FeedReset { reason oldestCursor tipCursor }
    }
  }
${fragments}`
}
