import type { LogPosition } from '../store/rows.ts'
import { type Shared, type Stream, textOf } from './groups.ts'
import type { FeedMessage, Notice } from './message.ts'
import type { SharedText } from './texts.ts'

/** The sending side of one feed: renders its messages and tracks its position. */

/** The receiver of a feed's events. No function of a sink throws. */
export interface Sink {
  /** The transport of the sink, for metrics. */
  readonly transport?: 'websocket' | 'event-stream'
  /** Whether the sink accepts another event now. */
  hasRoom(): boolean
  /** Accepts an event, as text and as a message. Notices of a coming end arrive even without room; all other messages wait for room. */
  take(text: SharedText, message: FeedMessage): void
  /** Resolves when the sink has room again or is closed. */
  room(): Promise<void>
  /** Called when the feed has ended. */
  end(): void
}

export interface FeedOutputOptions {
  readonly position: LogPosition
  readonly sink: Sink
  /** Called once when the feed ends, for any reason. */
  readonly onEnd: () => void
}

export interface FeedOutput {
  /** The position that the feed has reached by its own reads. While the feed is live, its group has the position. */
  position(): LogPosition
  /** Sets the position to the one that the feed has reached with its group. */
  moveTo(position: LogPosition): void
  isEnded(): boolean
  waitForRoom(): Promise<void>
  /** Sends a message and moves to the position of the message, unless the feed has ended. */
  emit(message: FeedMessage): Promise<void>
  /**
   * Sends a notice, which moves no position, or keeps it until the first message is sent. `reached` returns the position of the last
   * event.
   */
  emitNotice(notice: Notice, reached: () => LogPosition): Promise<void>
  /** Ends the feed without a call of `sink.end`. */
  leave(): void
  end(): void
}

export function createFeedOutput(
  shared: Shared,
  stream: Stream,
  { position: start, sink, onEnd }: FeedOutputOptions,
): FeedOutput {
  let position = start
  let isEnded = false
  /** The notices that wait for the first message; `undefined` once it is sent. */
  let early: (() => Promise<void>)[] | undefined = []

  async function emit(message: FeedMessage): Promise<void> {
    const text = await textOf(shared, stream, message)
    if (isEnded) return
    sink.take(text, message)
    position = message.position
    const waiting = early ?? []
    early = undefined
    // A reset is the last message, also when it is the first one.
    if (message.kind !== 'reset') for (const send of waiting) void send()
  }

  async function emitNotice(notice: Notice, reached: () => LogPosition): Promise<void> {
    if (early !== undefined) {
      early.push(() => emitNotice(notice, reached))
      return
    }
    try {
      while (!isEnded) {
        if (notice.topic === 'OUTPUT_HANDED_OVER') await waitForRoom()
        const message = { kind: 'notice', position: reached(), notice } as const
        const text = await textOf(shared, stream, message)
        // An event may have been sent meanwhile. A client that resumes after an older position would receive it again.
        if (isEnded || reached().seq !== message.position.seq) continue
        return sink.take(text, message)
      }
    } catch (failure) {
      // A notice moves no position, so the feed continues without it.
      shared.onFailure(failure)
    }
  }

  async function waitForRoom(): Promise<void> {
    while (!isEnded && !sink.hasRoom()) await sink.room()
  }

  function leave(): void {
    if (isEnded) return
    isEnded = true
    onEnd()
  }

  function end(): void {
    if (isEnded) return
    leave()
    sink.end()
  }

  return {
    position: () => position,
    moveTo: (next) => {
      position = next
    },
    isEnded: () => isEnded,
    waitForRoom,
    emit,
    emitNotice,
    leave,
    end,
  }
}
