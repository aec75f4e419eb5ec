import { createSignal } from '../lib/signal.ts'
import type { Sink } from './feed-output.ts'
import type { FeedHub, FeedRequest } from './hub.ts'
import type { FeedMessage } from './message.ts'

/** A subscriber of the hub as an async generator, for consumers that pull messages and share nothing. */

/** What to follow, from where, and what ends it. */
export interface FollowOptions
  extends Pick<FeedRequest, 'filter' | 'position' | 'era' | 'snapshot'> {
  readonly signal: AbortSignal
}

/** Everything after a position, old rows first and then as they are committed, until the signal or a reset. */
export async function* follow(
  hub: Pick<FeedHub, 'open'>,
  { signal, ...options }: FollowOptions,
): AsyncGenerator<FeedMessage, void, undefined> {
  const messages: FeedMessage[] = []
  const arrived = createSignal()
  const taken = createSignal()
  let isEnded = false
  const sink: Sink = {
    hasRoom: () => messages.length < maxWaiting,
    take: (_text, message) => {
      messages.push(message)
      arrived.notify()
    },
    room: async () => void (await taken.wait({ signal })),
    end: () => {
      isEnded = true
      arrived.notify()
    },
  }
  // A key of its own: the messages are not rendered, so there is nothing to share.
  opened++
  const subscriber = hub.open({
    ...options,
    key: `own ${opened}`,
    render: async () => noText,
    sink,
  })
  try {
    while (!signal.aborted) {
      const message = messages.shift()
      if (message !== undefined) {
        taken.notify()
        yield message
      } else if (isEnded) return
      else await arrived.wait({ signal })
    }
  } finally {
    subscriber.leave()
    taken.notify()
  }
}

/** The most messages that wait for the consumer; a subscriber without room reads by itself when there is room again. */
const maxWaiting = 8

const noText = { text: '', cursor: undefined }

let opened = 0
