import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import type { LogPosition } from '../store/rows.ts'
import {
  joinLive,
  type LiveSubscriber,
  leaveLive,
  type Shared,
  type Stream,
  textOf,
} from './groups.ts'
import type { FeedMessage, Notice, ResetMessage, SnapshotMessage } from './message.ts'
import type { UpdateFilter } from './read.ts'
import type { SharedText } from './texts.ts'

/** One feed: it reads by itself until it reaches the tip, and then receives events with its group. */

/** Where a feed's events go. Nothing here throws. */
export interface Sink {
  /** Whether it accepts another event now. */
  hasRoom(): boolean
  /** Takes an event, rendered and as it is. Notices come even without room; everything else waits for it. */
  take(text: SharedText, message: FeedMessage): void
  /** Resolves when there is room again, or when there never will be. */
  room(): Promise<void>
  /** Called when no more events come. */
  end(): void
}

export interface Subscriber {
  readonly filter: UpdateFilter
  /** Sends a notice about this feed. */
  emit(notice: Notice): Promise<void>
  /** Ends it without a call of `sink.end`: the sink is gone, or ends in another way. */
  leave(): void
  /** Ends it, and its sink. */
  end(): void
}

export interface SubscriberOptions {
  readonly position: LogPosition
  readonly snapshot: AsyncIterable<SnapshotMessage> | undefined
  readonly sink: Sink
  /** Called once, whatever ends the feed. */
  readonly onEnd: () => void
}

export function startSubscriber(
  shared: Shared,
  stream: Stream,
  { position: start, snapshot, sink, onEnd }: SubscriberOptions,
): Subscriber {
  const { tail } = shared
  let position = start
  /** Nothing of the filter lies between the position and this. */
  let checked = start
  let isLeft = false
  const live: LiveSubscriber = {
    group: undefined,
    hasRoom: sink.hasRoom,
    take: sink.take,
    fallBehind: (at) => void catchUp(at),
    reset: (at) => {
      position = at
      void guarded(() => reset('LOG_REPLACED'))
    },
  }

  async function begin(): Promise<void> {
    const tip = tail.tip()
    await emit({ kind: 'opened', position, tip })
    for await (const piece of snapshot ?? []) {
      await waitForRoom()
      if (isLeft) return
      await emit(piece)
    }
    void guarded(() => readOn(position.seq < tip.seq))
  }

  async function catchUp(from: LogPosition): Promise<void> {
    position = from
    checked = from
    await guarded(async () => {
      await waitForRoom()
      if (!isLeft) await emit({ kind: 'notice', position, notice: { topic: 'CATCHING_UP' } })
      await readOn(true)
    })
  }

  /** Reads up to the tip and joins a live group; announces it with a progress message if the feed was behind. */
  async function readOn(startsBehind: boolean): Promise<void> {
    let isBehind = startsBehind
    while (!isLeft) {
      await waitForRoom()
      const { filter, era } = stream
      const query = { filter, after: checked.seq, limit: shared.batchRows }
      const page = tail.peek(query) ?? (await tail.read(query))
      const tip = tail.tip()
      if (tip.era !== era || page === 'REPLACED') return reset('LOG_REPLACED')
      if (page === 'PRUNED') return reset('LOG_PRUNED')
      checked = page.position
      if (page.rows.length > 0) {
        await emit({ kind: 'updates', after: position, position: checked, rows: page.rows })
        // Nothing above may have waited for I/O: let other work of the process run.
        await setImmediate()
      } else if (checked.seq < tip.seq) {
        // The log grew while it was read, or the page ended.
      } else if (isBehind) {
        await emit({
          kind: 'progress',
          after: position,
          position: checked,
          slot: tip.slot,
          isLive: true,
        })
        isBehind = false
      } else if (!isLeft) {
        // No `await` lies between the read of the tip and this call.
        return joinLive(shared, stream, live, position)
      }
    }
  }

  async function emit(message: FeedMessage): Promise<void> {
    const text = await textOf(shared, stream, message)
    if (isLeft) return
    sink.take(text, message)
    position = message.position
  }

  async function waitForRoom(): Promise<void> {
    while (!isLeft && !sink.hasRoom()) await sink.room()
  }

  async function reset(reason: ResetMessage['reason']): Promise<void> {
    await emit({ kind: 'reset', position, reason, tip: tail.tip() })
    end()
  }

  /** Tries again while the database is away; messages that were emitted are not repeated. */
  async function guarded(work: () => Promise<void>): Promise<void> {
    for (let next = work; !isLeft; next = () => readOn(true)) {
      try {
        await next()
        return
      } catch (failure) {
        shared.onFailure(failure)
        await delay(shared.retryMs, undefined, { ref: false })
      }
    }
  }

  async function emitNotice(notice: Notice): Promise<void> {
    try {
      const at = live.group?.position ?? position
      const message = { kind: 'notice', position: at, notice } as const
      const text = await textOf(shared, stream, message)
      if (!isLeft) sink.take(text, message)
    } catch (failure) {
      // A notice moves no cursor: the feed goes on without it.
      shared.onFailure(failure)
    }
  }

  function leave(): void {
    if (isLeft) return
    isLeft = true
    leaveLive(stream, live)
    onEnd()
  }

  function end(): void {
    if (isLeft) return
    leave()
    sink.end()
  }

  begin().catch((failure: unknown) => {
    // Half a snapshot is worse than none: the client begins again.
    shared.onFailure(failure)
    end()
  })
  return { filter: stream.filter, emit: emitNotice, leave, end }
}
