import { useEffect, useState } from 'react'
import { documentText } from './documents.ts'
import type { FeedEvent, FeedMode, FeedUpdate } from './events.ts'
import { type FeedEnded, type FollowOptions, follow } from './follow.ts'

/** The feed as a React hook. */

/** The state of a feed for rendering. */
export interface FeedView<Fields = unknown> {
  /** `CONNECTING` before the first connection, `ENDED` after the last one. */
  readonly state: 'CONNECTING' | FeedMode | 'ENDED'
  /** The latest updates, newest first. */
  readonly updates: readonly (FeedUpdate & Fields)[]
  /** The last cursor, which a later feed can pass as `after`. */
  readonly cursor: string | undefined
  /** Why the feed ended: an error code, or `LOG_REPLACED` or `LOG_PRUNED`, after which a feed must start without `after`. */
  readonly ended: Pick<FeedEnded, 'code' | 'message'> | undefined
}

/** Options of `useFeed`; `keep` is the number of latest updates to keep, 100 by default. */
export interface UseFeedOptions<Fields = unknown> extends Omit<FollowOptions<Fields>, 'signal'> {
  readonly keep?: number
}

/**
 * Follows a feed while the component is mounted, and restarts when an option changes. Lists, texts and documents are compared by
 * value, so they may be written inline; `headers` are not compared.
 */
export function useFeed<Fields = unknown>(options: UseFeedOptions<Fields>): FeedView<Fields> {
  const { headers: _headers, selection = '', ...plain } = options
  const key = JSON.stringify([plain, documentText(selection)])
  // The view carries the key of its feed, so that the view of another feed is not rendered even once.
  const [shown, setShown] = useState<{ readonly key: string; readonly view: FeedView<Fields> }>()
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    setShown(undefined)
    void (async () => {
      for await (const event of follow({ ...options, signal })) {
        if (signal.aborted) return
        setShown((former) => {
          const view = former?.key === key ? former.view : connecting
          return { key, view: viewAfter(view, event, options.keep ?? 100) }
        })
      }
    })()
    return () => controller.abort()
  }, [key])
  return shown?.key === key ? shown.view : connecting
}

const connecting = {
  state: 'CONNECTING',
  updates: [],
  cursor: undefined,
  ended: undefined,
} as const

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
    case 'FeedSnapshot':
    case 'FeedNotice':
      return former
  }
}
