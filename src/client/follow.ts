import { type ConnectionOptions, isTemporary, receive, stoppable } from './connections.ts'
import { documentText, type TypedDocument } from './documents.ts'
import { type FeedEvent, feedDocumentWith, type UpdateClass } from './events.ts'
import { createHistory, type History } from './history.ts'

/** Follows the ledger updates of a gateway without end: resumes automatically, and checks that no update is missing or repeated. */

export type { FeedEvent, FeedUpdate } from './events.ts'

export interface FollowOptions<Fields = unknown> extends ConnectionOptions {
  /** 1 to 100 addresses as Bech32 texts; the whole ledger by default. */
  readonly addresses?: readonly string[]
  /** Classes of updates to follow; only `OWNED` by default. */
  readonly classes?: readonly UpdateClass[]
  /** Cursor to start after. Without `after` and `afterMilestone`, only updates that are committed from now on are sent. */
  readonly after?: string
  /** Milestone to start after, instead of a cursor. */
  readonly afterMilestone?: number
  /** Whether to start with the outputs of the addresses that are unspent at the start position. */
  readonly snapshot?: boolean
  /**
   * Additional fields of each update: a document whose first fragment is on `LedgerUpdate`, such as
   * `fragment Amounts on LedgerUpdate { output { amount } }`.
   */
  readonly selection?: TypedDocument<Fields, never>
}

/** The last event of a feed that cannot continue. */
export interface FeedEnded {
  readonly __typename: 'FeedEnded'
  /** `HISTORY_BROKEN`, `URL_MALFORMED`, the error code of the gateway, or `HTTP_` and a status. */
  readonly code: string
  readonly message: string
  /** The last cursor; `undefined` if the feed never started. */
  readonly cursor: string | undefined
}

/**
 * Yields the events of the feed without end, and reconnects as often as needed: each connection starts after the cursor of the
 * last event. The caller sees a new connection only as another `FeedOpened`; until a snapshot is complete, it starts from the
 * beginning. Ends when the signal aborts, on `return()`, after a `FeedReset`, or with `FeedEnded` if reconnecting cannot help.
 */
export function follow<Fields = unknown>(
  options: FollowOptions<Fields>,
): AsyncGenerator<FeedEvent<Fields> | FeedEnded, void, undefined> {
  return stoppable(options, followUntilEnd<Fields>)
}

async function* followUntilEnd<Fields>(
  options: FollowOptions<Fields>,
): AsyncGenerator<FeedEvent<Fields> | FeedEnded, void, undefined> {
  const { snapshot = false, selection } = options
  // A program in JavaScript may pass the null of its database.
  const after = options.after ?? undefined
  const history = createHistory({ after, snapshot })
  const query = feedDocumentWith(documentText(selection ?? ''))
  const answers = receive<{ readonly event: FeedEvent<Fields> }>(options, {
    body: () => ({ query, variables: variablesOf(options, history) }),
    // If a selected field fails temporarily, the feed reconnects; a field that fails permanently is null.
    refusalIn: (answer) => (answer.ok ? answer.failures.find(isTemporary) : answer.failure),
    isProgress: (answer) => answer.ok && answer.data.event.__typename === 'LedgerUpdateBatch',
    onComplete: 'reconnect',
  })
  for await (const answer of answers) {
    const fault = answer.ok ? history.check(answer.data.event) : answer.failure
    if (fault !== undefined) {
      const { code, message } = fault
      yield { __typename: 'FeedEnded', code, message, cursor: history.cursor() }
      return
    }
    if (!answer.ok) return
    yield answer.data.event
    if (answer.data.event.__typename === 'FeedReset') return
  }
}

function variablesOf(options: FollowOptions, history: History): Record<string, unknown> {
  const { addresses, classes = ['OWNED'], afterMilestone } = options
  const after = history.cursor()
  return {
    addresses,
    classes,
    after,
    ...(after === undefined && { afterMilestone }),
    // After a complete snapshot, the updates contain every later change.
    snapshot: history.wantsSnapshot(),
  }
}
