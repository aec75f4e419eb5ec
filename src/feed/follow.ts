import { createSignal } from '../lib/signal.ts'
import type { Sink } from './feed-output.ts'
import type { FeedHub, FeedRequest } from './hub.ts'
import type { FeedMessage } from './message.ts'

/** A subscriber of the hub as an async generator, for consumers that pull messages without a shared rendering. */

/** The filter and start of a feed, and the signal that ends it. */
export interface FollowOptions
  extends Pick<FeedRequest, 'filter' | 'position' | 'era' | 'snapshot'> {
  readonly signal: AbortSignal
}

/** Yields all messages after a position, first existing rows and then new ones, until the signal fires or a reset ends the feed. */
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
  // A unique key: the messages are not rendered, so no text can be shared.
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

/** Maximum number of messages that wait for the consumer. With a full queue, the subscriber stops reading until there is room. */
const maxWaiting = 8

const noText = { text: '', cursor: undefined }

let opened = 0
