import { setTimeout as delay } from 'node:timers/promises'
import type { StoreNotification } from '../contract.ts'
import type { Choice } from './choice.ts'
import { reaches } from './place.ts'

/**
 * Passes notifications of the primary on once what they name can be read: a replica gets a commit after its notification has
 * come, and who is woken before would find nothing.
 */
export interface Announcer {
  announce(news: StoreNotification): void
  /** The reads have moved to another server, which may have more. */
  moved(): void
  close(): void
}

/** Of the server that is chosen. */
export function createAnnouncer(
  { primary, current, primaryLsn }: Pick<Choice, 'primary' | 'current' | 'primaryLsn'>,
  hear: (news: StoreNotification) => void,
): Announcer {
  let last: Promise<void> = Promise.resolve()
  let newest = 0
  let isClosed = false

  function announce(news: StoreNotification): void {
    if (news.topic === 'LOG_GREW') newest = Math.max(newest, news.seq)
    if (current() === primary) {
      hear(news)
      return
    }
    // Without the primary nothing is known of when it comes; the ticks of those who listen find it.
    const goal = primaryLsn().catch(() => 0n)
    last = last.then(async () => {
      await passed(await goal)
      if (!isClosed) hear(news)
    })
  }

  async function passed(goal: bigint): Promise<void> {
    while (!isClosed && current() !== primary && current().reached < goal) {
      if (!(await reaches(current(), goal, mostWaitMs))) await delay(pauseMs)
    }
  }

  return {
    announce,
    moved: () => {
      hear({ topic: 'LOG_GREW', seq: newest })
      hear({ topic: 'BLOCKS_ACCEPTED' })
    },
    close: () => {
      isClosed = true
    },
  }
}

const mostWaitMs = 1_000
const pauseMs = 20
