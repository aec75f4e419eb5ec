import { type ConnectionOptions, mayPass, receive } from './connections.ts'
import { documentText, type TypedDocument } from './documents.ts'
import { type FeedEvent, feedDocumentWith, type UpdateClass } from './events.ts'
import { createHistory, type History } from './history.ts'

/** Follows the ledger updates of a gateway for ever: resumes by itself, and checks that no update is missing or repeated. */

export type { FeedEvent, FeedUpdate } from './events.ts'

export interface FollowOptions<Fields = unknown> extends ConnectionOptions {
  /** 1 to 100 Bech32 texts; left out: the whole ledger. */
  readonly addresses?: readonly string[]
  /** `OWNED` alone by default. */
  readonly classes?: readonly UpdateClass[]
  /** A cursor; left out, with `afterMilestone`: only what is committed from now on. */
  readonly after?: string
  /** A milestone in place of a cursor: begin with the one after it. */
  readonly afterMilestone?: number
  /** Begin with the outputs of the addresses that are unspent at that position. */
  readonly snapshot?: boolean
  /**
   * What each update has besides: a document whose first fragment is on `LedgerUpdate`, such as
   * `fragment Amounts on LedgerUpdate { output { amount } }`.
   */
  readonly selection?: TypedDocument<Fields, never>
}

/** The last event of a feed that cannot continue. */
export interface FeedEnded {
  readonly __typename: 'FeedEnded'
  /** `HISTORY_BROKEN`, `URL_MALFORMED`, or the code of the gateway's refusal, or `HTTP_` and a status. */
  readonly code: string
  readonly message: string
  /** The last cursor; `undefined` if the feed never began. */
  readonly cursor: string | undefined
}

/**
 * The events of the feed, for ever, over as many connections as it takes: each begins after the cursor of the last event.
 * Resuming shows only as another `FeedOpened`; before a snapshot is complete, that begins everything again. Ends with the
 * signal, with `return()`, after a `FeedReset`, or with `FeedEnded` if another connection would not help.
 */
export async function* follow<Fields = unknown>(
  options: FollowOptions<Fields>,
): AsyncGenerator<FeedEvent<Fields> | FeedEnded, void, undefined> {
  const { after, snapshot = false, selection } = options
  const history = createHistory({ after, snapshot })
  const query = feedDocumentWith(documentText(selection ?? ''))
  const answers = receive<{ readonly event: FeedEvent<Fields> }>(options, {
    body: () => ({ query, variables: variablesOf(options, history) }),
    // A selected part that is missing for a while is asked for again; one that stays away is null.
    refusalIn: (answer) => (answer.ok ? answer.failures.find(mayPass) : answer.failure),
    onComplete: 'reconnect',
  })
  for await (const answer of answers) {
    const fault = answer.ok ? await history.check(answer.data.event) : answer.failure
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
    // After a complete snapshot the updates contain what follows.
    snapshot: history.wantsSnapshot(),
  }
}
