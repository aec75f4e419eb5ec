import { setImmediate } from 'node:timers/promises'
import { getOrInsert } from '../lib/get-or-insert.ts'
import type { Hex } from '../lib/hex.ts'
import type { Log } from '../lib/log.ts'
import { createFailureLog } from '../store/failure-log.ts'
import type { ExpirationTransfer } from './expiration-transfers.ts'
import { advance, createStream, type Shared, type Stream } from './groups.ts'
import type { Notice } from './message.ts'
import type { UpdateFilter } from './read.ts'
import { type Subscriber, type SubscriberOptions, startSubscriber } from './subscriber.ts'
import { createTexts } from './texts.ts'

/** All open feeds of a process. Feeds of equal requests form one stream: they share one execution and its bytes. */

/** A request for a feed. Equal keys mean equal filters and equal renderings. */
export interface FeedRequest
  extends Pick<Stream, 'key' | 'filter' | 'era' | 'render'>,
    Omit<SubscriberOptions, 'onEnd'> {}

export interface FeedHubDeps extends Omit<Shared, 'texts' | 'onFailure'> {
  readonly log: Pick<Log, 'error'>
  /** Capacity of the cache of serialised events, in characters. */
  readonly textCapacity: number
}

/** Opens, counts and ends the feeds of one process. */
export interface FeedHub {
  /** Opens a feed. The feed runs until `leave` is called, or until it ends with a reset. */
  open(request: FeedRequest): Subscriber
  /** Sends a notice to every feed. */
  emitToAll(notice: Notice): Promise<void>
  counts(): FeedHubCounts
  /** The number of feeds of each transport; linear in the number of feeds. */
  followers(): readonly FollowerCount[]
  /** Ends every feed. */
  close(): void
}

/** The number of feeds of one transport that are live, or that read by themselves. */
export interface FollowerCount {
  readonly transport: NonNullable<Subscriber['transport']>
  readonly isLive: boolean
  readonly count: number
}

/** Numbers of open feeds, of live feeds, and of the executions that they share. */
export interface FeedHubCounts {
  readonly feeds: number
  readonly live: number
  readonly streams: number
}

export function createFeedHub({ textCapacity, log, ...deps }: FeedHubDeps): FeedHub {
  const { progressMs } = deps
  const logFailure = createFailureLog(log)
  const onFailure = (failure: unknown) => logFailure('feed-failed', failure)
  const shared: Shared = { ...deps, texts: createTexts(textCapacity), onFailure }
  const streams = new Map<string, Stream>()
  const subscribers = new Set<Subscriber>()
  const stopWatching = deps.tail.watchExpirationTransfers(emitTransfers)
  const progress = setInterval(sendProgress, Math.min(progressEveryMs, progressMs))
  progress.unref()

  function open({ position, snapshot, sink, ...request }: FeedRequest): Subscriber {
    const stream = getOrInsert(streams, request.key, () => createStream(shared.tail, request))
    stream.feeds++
    const onEnd = () => {
      subscribers.delete(subscriber)
      stream.feeds--
      if (stream.feeds === 0) streams.delete(stream.key)
    }
    const subscriber = startSubscriber(shared, stream, { position, snapshot, sink, onEnd })
    subscribers.add(subscriber)
    return subscriber
  }

  /** Sends a progress message to feeds that received no event for `progressMs`. */
  function sendProgress(): void {
    const quietSince = performance.now() - progressMs
    for (const stream of streams.values()) {
      const groups = [...stream.groups.values()]
      const isQuiet = groups.some(({ emittedAt }) => emittedAt <= quietSince)
      if (isQuiet) void advance(shared, stream, quietSince)
    }
  }

  async function emitToAll(notice: Notice): Promise<void> {
    for (const subscriber of [...subscribers]) await subscriber.emit(notice)
  }

  /** Sends a notice to the feeds that follow one of the two addresses of a transfer, at any position. */
  function emitTransfers(transfers: readonly ExpirationTransfer[]): void {
    const concerning = transfersByFilter(transfers)
    for (const subscriber of subscribers) {
      void emitEach(subscriber, concerning(subscriber.filter))
    }
  }

  function close(): void {
    clearInterval(progress)
    stopWatching()
    for (const subscriber of [...subscribers]) subscriber.end()
  }

  const counts = () => ({ ...countsOf(streams.values()), feeds: subscribers.size })
  return { open, emitToAll, counts, followers: () => followersAmong(subscribers), close }
}

async function emitEach(
  subscriber: Subscriber,
  transfers: Iterable<ExpirationTransfer>,
): Promise<void> {
  for (const transfer of transfers) {
    await subscriber.emit({ topic: 'OUTPUT_HANDED_OVER', ...transfer })
    // Thousands of outputs may expire in one milestone: yield to other work of the process.
    await setImmediate()
  }
}

/** Returns a function that selects the transfers of which a filter follows one of the two addresses. */
function transfersByFilter(transfers: readonly ExpirationTransfer[]) {
  const byAddress = new Map<Hex, ExpirationTransfer[]>()
  for (const transfer of transfers) {
    for (const address of [transfer.from, transfer.to]) {
      getOrInsert(byAddress, address, () => []).push(transfer)
    }
  }
  return ({ addresses }: UpdateFilter): Iterable<ExpirationTransfer> =>
    addresses === undefined
      ? transfers
      : new Set(addresses.flatMap((address) => byAddress.get(address) ?? []))
}

function followersAmong(subscribers: ReadonlySet<Subscriber>): readonly FollowerCount[] {
  const all = [...subscribers].map(({ transport, isLive }) => ({ transport, isLive: isLive() }))
  return (['websocket', 'event-stream'] as const).flatMap((transport) =>
    [true, false].map((isLive) => {
      const counted = all.filter((one) => one.transport === transport && one.isLive === isLive)
      return { transport, isLive, count: counted.length }
    }),
  )
}

function countsOf(streams: Iterable<Stream>): Omit<FeedHubCounts, 'feeds'> {
  const all = [...streams]
  const groups = all.flatMap((stream) => [...stream.groups.values()])
  const live = groups.reduce((sum, { subscribers }) => sum + subscribers.size, 0)
  return { live, streams: all.length }
}

/** Maximum milliseconds between two checks for quiet feeds. */
const progressEveryMs = 1_000
