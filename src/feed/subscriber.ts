import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import type { LogPosition } from '../store/rows.ts'
import {
  createFeedOutput,
  type FeedOutput,
  type FeedOutputOptions,
  type Sink,
} from './feed-output.ts'
import { joinLive, type LiveSubscriber, leaveLive, type Shared, type Stream } from './groups.ts'
import type { FeedMessage, Notice, ResetMessage, SnapshotMessage } from './message.ts'
import type { UpdateFilter } from './read.ts'

/** One feed: the feed reads by itself until it reaches the tip, and then receives events with its group. */

export interface Subscriber {
  readonly filter: UpdateFilter
  readonly transport: Sink['transport']
  /** Whether the feed receives its events with its group; otherwise the feed reads by itself. */
  isLive(): boolean
  /** Sends a notice about this feed. */
  emit(notice: Notice): Promise<void>
  /** Ends the feed without a call of `sink.end`: the sink is closed, or its owner ends it. */
  leave(): void
  /** Ends the feed and its sink. */
  end(): void
}

export interface SubscriberOptions extends FeedOutputOptions {
  readonly snapshot: AsyncIterable<SnapshotMessage> | undefined
}

export function startSubscriber(
  shared: Shared,
  stream: Stream,
  { position, snapshot, sink, onEnd }: SubscriberOptions,
): Subscriber {
  const live: LiveSubscriber = {
    group: undefined,
    hasRoom: sink.hasRoom,
    take: sink.take,
    fallBehind: (at) => {
      output.moveTo(at)
      void retried(feed, async () => {
        await announceCatchingUp(output)
        await readToTip(feed, true)
      })
    },
    reset: (at) => {
      output.moveTo(at)
      void retried(feed, () => reset(feed, 'LOG_REPLACED'))
    },
  }
  const output = createFeedOutput(shared, stream, {
    position,
    sink,
    onEnd: () => {
      leaveLive(stream, live)
      onEnd()
    },
  })
  const feed: Feed = { shared, stream, output, live }

  begin(feed, snapshot).catch((failure: unknown) => {
    // A partial snapshot is useless: the feed ends, and the client starts again.
    shared.onFailure(failure)
    output.end()
  })
  return {
    filter: stream.filter,
    transport: sink.transport,
    isLive: () => live.group !== undefined,
    emit: (notice) => output.emitNotice(notice, () => live.group?.position ?? output.position()),
    leave: output.leave,
    end: output.end,
  }
}

/** The state of a feed, with the parts that other feeds share. */
interface Feed {
  readonly shared: Shared
  readonly stream: Stream
  readonly output: FeedOutput
  readonly live: LiveSubscriber
}

/** Sends the opening message and the snapshot, then starts to read in the background. */
async function begin(feed: Feed, snapshot: SubscriberOptions['snapshot']): Promise<void> {
  const { shared, output } = feed
  const position: LogPosition = output.position()
  const tip = shared.tail.tip()
  // The log was replaced since the stream began.
  if (tip.era !== feed.stream.era) return reset(feed, 'LOG_REPLACED')
  await emitUntilSent(feed, { kind: 'opened', position, tip })
  let isComplete = snapshot === undefined
  for await (const piece of snapshot ?? []) {
    await output.waitForRoom()
    if (output.isEnded()) return
    await emitUntilSent(feed, piece)
    isComplete = piece.isLast
  }
  if (!isComplete) {
    // The reset has the present bounds of the log.
    await shared.tail.freshTip(shared.tail.tip().seq + 1)
    return reset(feed, 'LOG_PRUNED')
  }
  void retried(feed, () => readToTip(feed, output.position().seq < tip.seq))
}

/** Sends a message. Waits if it cannot be rendered now: without it, the feed could only end. */
function emitUntilSent(feed: Feed, message: FeedMessage): Promise<void> {
  const emit = () => feed.output.emit(message)
  return retried(feed, emit, emit)
}

async function announceCatchingUp(output: FeedOutput): Promise<void> {
  await output.waitForRoom()
  const position = output.position()
  await output.emit({ kind: 'notice', position, notice: { topic: 'CATCHING_UP' } })
}

/**
 * Reads up to the tip and joins a live group. If the feed was behind, a progress message announces that it is live. Rows of one class may
 * be rare in the whole ledger: while the feed reads for a long time without finding one, progress messages tell how far it is.
 */
async function readToTip(feed: Feed, startsBehind: boolean): Promise<void> {
  const { shared, stream, output, live } = feed
  const { tail } = shared
  let isBehind = startsBehind
  /** No unsent row of the filter lies at or below this position. */
  let checked = output.position()
  let emittedAt = performance.now()
  while (!output.isEnded()) {
    await output.waitForRoom()
    const { filter, era } = stream
    const query = { filter, after: checked.seq, limit: shared.batchRows }
    const page = tail.peek(query) ?? (await tail.read(query))
    const tip = tail.tip()
    if (tip.era !== era || page === 'REPLACED') return reset(feed, 'LOG_REPLACED')
    if (page === 'PRUNED') return reset(feed, 'LOG_PRUNED')
    checked = page.position
    const after = output.position()
    if (page.rows.length > 0) {
      await output.emit({ kind: 'updates', after, position: checked, rows: page.rows })
      emittedAt = performance.now()
      // The iteration may have run without I/O: yield to other work of the process.
      await setImmediate()
    } else if (checked.seq < tip.seq) {
      // The log grew while it was read, or the page ended.
      if (performance.now() - emittedAt >= shared.progressMs) {
        const slot = await tail.slotUpTo(checked.seq)
        await output.emit({ kind: 'progress', after, position: checked, slot, isLive: false })
        emittedAt = performance.now()
      }
      await setImmediate()
    } else if (isBehind) {
      const { slot } = tip
      await output.emit({ kind: 'progress', after, position: checked, slot, isLive: true })
      isBehind = false
    } else if (!output.isEnded()) {
      // No `await` lies between the read of the tip and this call.
      return joinLive(shared, stream, live, after)
    }
  }
}

async function reset({ shared, output }: Feed, reason: ResetMessage['reason']): Promise<void> {
  await output.emit({ kind: 'reset', position: output.position(), reason, tip: shared.tail.tip() })
  output.end()
}

/** Does some work, and continues after a failed read. Emitted messages are not repeated. */
async function retried(
  feed: Feed,
  work: () => Promise<void>,
  again = () => readToTip(feed, true),
): Promise<void> {
  const { shared, output } = feed
  for (let next = work; !output.isEnded(); next = again) {
    try {
      await next()
      return
    } catch (failure) {
      shared.onFailure(failure)
      await delay(shared.retryMs, undefined, { ref: false })
    }
  }
}
