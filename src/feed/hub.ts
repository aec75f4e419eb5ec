import type { Log } from '../lib/log.ts'
import { isStoreFault } from '../store/faults.ts'
import type { ExpirationTransfer } from './expiration-transfers.ts'
import { advance, createStream, type Shared, type Stream } from './groups.ts'
import type { Notice } from './message.ts'
import { type Subscriber, type SubscriberOptions, startSubscriber } from './subscriber.ts'
import { createTexts } from './texts.ts'

/** Feeds that tell the same share one execution and its bytes: who asks the same is one stream. */

/** A wish to be told. Equal keys mean equal filters and equal renderings. */
export interface FeedRequest
  extends Pick<Stream, 'key' | 'filter' | 'era' | 'render'>,
    Omit<SubscriberOptions, 'onEnd'> {}

/** What sharing needs. */
export interface FeedHubDeps extends Omit<Shared, 'texts' | 'complain'> {
  readonly log: Pick<Log, 'error'>
  /** A feed that was told nothing for so long is told how far it is covered. */
  readonly progressMs: number
  /** Characters of serialised events that are kept for those who come later. */
  readonly textCapacity: number
}

/** All open feeds of one process. */
export interface FeedHub {
  /** Opens a feed. It goes on until it is left, or ends itself with a reset. */
  open(request: FeedRequest): Subscriber
  /** Tells every feed. */
  emitToAll(notice: Notice): Promise<void>
  counts(): FeedHubCounts
  /** Ends every feed. */
  close(): void
}

/** How many feeds are open, how many of them are told as it happens, and how many executions they share. */
export interface FeedHubCounts {
  readonly feeds: number
  readonly live: number
  readonly streams: number
}

/** No feeds yet. */
export function createFeedHub({ progressMs, textCapacity, log, ...deps }: FeedHubDeps): FeedHub {
  const shared: Shared = { ...deps, texts: createTexts(textCapacity), complain }
  let complainedAt = Number.NEGATIVE_INFINITY
  const streams = new Map<string, Stream>()
  const readers = new Set<Subscriber>()
  const stopHearing = deps.tail.watchExpirationTransfers(emitTransfers)
  const progress = setInterval(tellProgress, Math.min(progressEveryMs, progressMs))
  progress.unref()

  function open({ position, snapshot, sink, ...asked }: FeedRequest): Subscriber {
    const stream = streams.get(asked.key) ?? createStream(shared.tail, asked)
    streams.set(asked.key, stream)
    stream.feeds++
    const onEnd = () => {
      readers.delete(reader)
      stream.feeds--
      if (stream.feeds === 0) streams.delete(stream.key)
    }
    const reader = startSubscriber(shared, stream, { position, snapshot, sink, onEnd })
    readers.add(reader)
    return reader
  }

  /** Quiet feeds learn how far they are covered; who was told an update learned it with that. */
  function tellProgress(): void {
    const quietSince = performance.now() - progressMs
    for (const stream of streams.values()) {
      for (const { emittedAt } of stream.groups.values()) {
        if (emittedAt > quietSince) continue
        void advance(shared, stream, quietSince)
        break
      }
    }
  }

  async function tellAll(notice: Notice): Promise<void> {
    for (const reader of [...readers]) await reader.emit(notice)
  }

  /** Once a second, for ten thousand feeds fail together. That the database is away is said by the store. */
  function complain(failure: unknown): void {
    const now = performance.now()
    if (isStoreFault(failure) || now - complainedAt < complainEveryMs) return
    complainedAt = now
    log.error('feed-failed', { error: failure })
  }

  /** Only those who follow one of the two addresses, wherever they stand. */
  function emitTransfers(transfers: readonly ExpirationTransfer[]): void {
    for (const reader of readers) {
      const { addresses } = reader.filter
      for (const transfer of transfers) {
        const concerns = addresses?.some((one) => one === transfer.from || one === transfer.to)
        if (concerns ?? true) void reader.emit({ topic: 'OUTPUT_HANDED_OVER', ...transfer })
      }
    }
  }

  function counts(): FeedHubCounts {
    let live = 0
    for (const { groups } of streams.values()) {
      for (const { subscribers } of groups.values()) live += subscribers.size
    }
    return { feeds: readers.size, live, streams: streams.size }
  }

  function close(): void {
    clearInterval(progress)
    stopHearing()
    for (const reader of [...readers]) reader.end()
  }

  return { open, emitToAll: tellAll, counts, close }
}

const complainEveryMs = 1_000

/** How often it is looked whom to tell progress. */
const progressEveryMs = 1_000
