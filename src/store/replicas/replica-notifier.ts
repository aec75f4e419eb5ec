import { setTimeout as delay } from 'node:timers/promises'
import type { StoreNotification } from '../contract.ts'
import type { Choice } from './choice.ts'
import { reaches } from './read-target.ts'

/**
 * Forwards notifications of the primary once the chosen server can read what they report. A replica receives a commit after its
 * notification, so a subscriber that is notified at once would find nothing.
 */
export interface ReplicaNotifier {
  /** Forwards a notification, at once or when the replica has caught up. */
  notifyWhenReadable(notification: StoreNotification): void
  /** Notifies subscribers that the reads have moved to another server, which may have more. */
  moved(): void
  close(): void
}

/** Creates the notifier for the chosen server. */
export function createReplicaNotifier(
  { primary, current, primaryLsn }: Pick<Choice, 'primary' | 'current' | 'primaryLsn'>,
  onNotification: (notification: StoreNotification) => void,
): ReplicaNotifier {
  let last: Promise<void> = Promise.resolve()
  let newest = 0
  let isClosed = false

  function notifyWhenReadable(notification: StoreNotification): void {
    if (notification.topic === 'LOG_GREW') newest = Math.max(newest, notification.seq)
    if (current() === primary) {
      onNotification(notification)
      return
    }
    // If the primary is unreachable, the position is unknown. Subscribers then find the change at their next tick.
    const goal = primaryLsn().catch(() => 0n)
    last = last.then(async () => {
      await caughtUp(await goal)
      if (!isClosed) onNotification(notification)
    })
  }

  async function caughtUp(goal: bigint): Promise<void> {
    while (!isClosed && current() !== primary && current().reached < goal) {
      if (!(await reaches(current(), goal, maxWaitMs))) await delay(pauseMs)
    }
  }

  return {
    notifyWhenReadable,
    moved: () => {
      onNotification({ topic: 'LOG_GREW', seq: newest })
      onNotification({ topic: 'BLOCKS_ACCEPTED' })
    },
    close: () => {
      isClosed = true
    },
  }
}

const maxWaitMs = 1_000
const pauseMs = 20
