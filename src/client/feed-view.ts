import type { FeedEvent, FeedMode, FeedUpdate } from './events.ts'
import { type FeedEnded, type FollowOptions, follow } from './follow.ts'
import type { Failure } from './query.ts'

/** The state of a feed for rendering, independent of a framework. */

export interface FeedView<Fields = unknown> {
  /** `CONNECTING` while there is no connection, `ENDED` after the last one. */
  readonly state: 'CONNECTING' | FeedMode | 'ENDED'
  /** The latest updates, newest first. */
  readonly updates: readonly (FeedUpdate & Fields)[]
  /** The last cursor, which a later feed can pass as `after`. */
  readonly cursor: string | undefined
  /**
   * Why the feed ended: an error code, `LOG_REPLACED` or `LOG_PRUNED`, after which a feed must start without `after`, or `CLIENT_FAILED`
   * if a function of the options threw or the server is no gateway.
   */
  readonly ended: Pick<FeedEnded, 'code' | 'message'> | undefined
}

/** The view of a feed before its first connection. */
export const connecting = {
  state: 'CONNECTING',
  updates: [],
  cursor: undefined,
  ended: undefined,
} as const satisfies FeedView

/** Options of `watchFeed`; `keep` is the number of latest updates to keep. */
export interface WatchOptions<Fields> extends FollowOptions<Fields> {
  readonly keep: number
}

/** Follows a feed, and passes each change of its view. Resolves when the feed has ended; never rejects. */
export async function watchFeed<Fields>(
  options: WatchOptions<Fields>,
  change: (next: (former: FeedView<Fields>) => FeedView<Fields>) => void,
): Promise<void> {
  const onDisconnected = (failure: Failure) => {
    change((former) => ({ ...former, state: 'CONNECTING' }))
    options.onDisconnected?.(failure)
  }
  try {
    for await (const event of follow({ ...options, onDisconnected })) {
      if (options.signal?.aborted) return
      change((former) => viewAfter(former, event, options.keep))
    }
  } catch (error) {
    const ended = { code: 'CLIENT_FAILED', message: String(error) }
    if (!options.signal?.aborted) change((former) => ({ ...former, state: 'ENDED', ended }))
  }
}

function viewAfter<Fields>(
  former: FeedView<Fields>,
  event: FeedEvent<Fields> | FeedEnded,
  keep: number,
): FeedView<Fields> {
  switch (event.__typename) {
    case 'FeedOpened':
    case 'FeedProgress':
      return { ...former, state: event.mode, cursor: event.cursor }
    case 'LedgerUpdateBatch': {
      const updates = [...event.updates.toReversed(), ...former.updates].slice(0, keep)
      return { ...former, updates, cursor: event.cursor }
    }
    case 'FeedReset': {
      const message = 'the log of the gateway was replaced or pruned; start again without a cursor'
      return { ...former, state: 'ENDED', ended: { code: event.reason, message } }
    }
    case 'FeedEnded':
      return { ...former, state: 'ENDED', ended: { code: event.code, message: event.message } }
    case 'FeedNotice':
      return event.topic === 'CATCHING_UP' ? { ...former, state: event.topic } : former
    case 'FeedSnapshot':
      return former
    default:
      return unknownEvent(event, former)
  }
}

/** Skips an event of a kind that a newer gateway has added. */
function unknownEvent<View>(_event: never, former: View): View {
  return former
}
