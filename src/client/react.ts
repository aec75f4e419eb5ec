import { useEffect, useRef, useState } from 'react'
import { documentText } from './documents.ts'
import { connecting, type FeedView, watchFeed } from './feed-view.ts'
import type { FollowOptions } from './follow.ts'
import type { Failure } from './query.ts'

/** The feed as a React hook. */

export type { FeedView } from './feed-view.ts'

/** Options of `useFeed`; `keep` is the number of latest updates to keep, 100 by default. */
export interface UseFeedOptions<Fields = unknown> extends Omit<FollowOptions<Fields>, 'signal'> {
  readonly keep?: number
}

/**
 * Follows a feed while the component is mounted, and restarts when an option changes. Lists, texts and documents are compared by
 * value, so they may be written inline; functions are not compared, and those of the newest rendering are called.
 */
export function useFeed<Fields = unknown>(options: UseFeedOptions<Fields>): FeedView<Fields> {
  const { headers: _headers, selection = '', ...plain } = options
  const key = JSON.stringify([plain, documentText(selection)])
  // The view carries the key of its feed, so that the view of another feed is not rendered even once.
  const [shown, setShown] = useState<{ readonly key: string; readonly view: FeedView<Fields> }>()
  const newest = useRef(options)
  useEffect(() => {
    newest.current = options
  })
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const headers = () => newest.current.headers?.() ?? {}
    const onDisconnected = (failure: Failure) => newest.current.onDisconnected?.(failure)
    setShown(undefined)
    void watchFeed<Fields>(
      { ...options, keep: options.keep ?? 100, headers, onDisconnected, signal },
      (next) => {
        if (signal.aborted) return
        setShown((former) => ({ key, view: next(former?.key === key ? former.view : connecting) }))
      },
    )
    return () => controller.abort()
  }, [key])
  return shown?.key === key ? shown.view : connecting
}
