import { broken, createAddressHistories, type HistoryBroken } from './address-histories.ts'
import type { FeedEvent, FeedUpdate } from './events.ts'

/** Checks the events of a feed: no update may be missing, repeated, or different from an earlier one. */

export type { HistoryBroken } from './address-histories.ts'

export interface History {
  /** Checks and records the next event; returns the error, if there is one. */
  check(event: FeedEvent): HistoryBroken | undefined
  /** Returns the cursor to resume after; `undefined` if there is none yet. */
  cursor(): string | undefined
  /** Whether the snapshot is not complete yet. */
  wantsSnapshot(): boolean
}

export interface HistoryStart {
  readonly after: string | undefined
  readonly snapshot: boolean
}

export function createHistory({ after, snapshot }: HistoryStart): History {
  const histories = createAddressHistories()
  let cursor = after
  let awaitsSnapshot = snapshot

  function check(event: FeedEvent): HistoryBroken | undefined {
    switch (event.__typename) {
      case 'FeedOpened':
        return checkOpened(event)
      case 'FeedSnapshot':
        if (event.isLast) {
          awaitsSnapshot = false
          cursor = event.cursor
        }
        return undefined
      case 'LedgerUpdateBatch':
        return checkStep(event, event.updates)
      case 'FeedProgress':
        return checkStep(event, [])
      case 'FeedNotice':
      case 'FeedReset':
        return undefined
    }
  }

  function checkOpened({ cursor: start, start: points }: OpenedEvent): HistoryBroken | undefined {
    if (cursor !== undefined && start !== cursor) {
      return broken(`the feed started at ${start} instead of ${cursor}`)
    }
    // Without a cursor, or with an incomplete snapshot, the feed starts from the beginning.
    if (cursor === undefined || awaitsSnapshot) histories.clear()
    if (!awaitsSnapshot) cursor = start
    for (const point of points) {
      const fault = histories.begin(point)
      if (fault !== undefined) return fault
    }
    return undefined
  }

  function checkStep(
    step: { readonly previousCursor: string; readonly cursor: string },
    updates: readonly FeedUpdate[],
  ): HistoryBroken | undefined {
    if (step.previousCursor !== cursor) {
      return broken(`an event that follows ${step.previousCursor} arrived after ${cursor}`)
    }
    for (const update of updates) {
      const fault = histories.extend(update)
      if (fault !== undefined) return fault
    }
    cursor = step.cursor
    return undefined
  }

  return { check, cursor: () => cursor, wantsSnapshot: () => awaitsSnapshot }
}

type OpenedEvent = Extract<FeedEvent, { readonly __typename: 'FeedOpened' }>
