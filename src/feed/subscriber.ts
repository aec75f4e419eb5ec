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

/** One feed: it reads by itself until it has come to the tip, and then is told with the others of its stream. */

/** Where a feed's events go. Nothing here throws. */
export interface Sink {
  /** Whether it takes more now. */
  hasRoom(): boolean
  /** Takes an event, rendered and as it is. Notices come even without room; everything else waits for it. */
  take(text: SharedText, message: FeedMessage): void
  /** Resolves when there is room again, or when there never will be. */
  room(): Promise<void>
  /** Nothing more comes. */
  end(): void
}

/** An open feed. */
export interface Subscriber {
  readonly filter: UpdateFilter
  /** Tells this feed something about itself. */
  emit(notice: Notice): Promise<void>
  /** Ends it without a word: its sink is gone, or is told in another way. */
  leave(): void
  /** Ends it from our side. */
  end(): void
}

/** Where a feed begins and where it goes. */
export interface SubscriberOptions {
  readonly position: LogPosition
  readonly snapshot: AsyncIterable<SnapshotMessage> | undefined
  readonly sink: Sink
  /** Called once, however it ends. */
  readonly onEnd: () => void
}

/** Starts a feed. */
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
  const member: LiveSubscriber = {
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
    await say({ kind: 'opened', position, tip })
    for await (const piece of snapshot ?? []) {
      await roomFor()
      if (isLeft) return
      await say(piece)
    }
    void guarded(() => goOn(position.seq < tip.seq))
  }

  async function catchUp(from: LogPosition): Promise<void> {
    position = from
    checked = from
    await guarded(async () => {
      await roomFor()
      if (!isLeft) await say({ kind: 'notice', position, notice: { topic: 'CATCHING_UP' } })
      await goOn(true)
    })
  }

  /** Reads until nothing is left before the tip, and joins those who are live; says so if it came from behind. */
  async function goOn(fromBehind: boolean): Promise<void> {
    let isBehind = fromBehind
    while (!isLeft) {
      await roomFor()
      const { filter, era } = stream
      const question = { filter, after: checked.seq, limit: shared.batchRows }
      const page = tail.peek(question) ?? (await tail.read(question))
      const tip = tail.tip()
      if (tip.era !== era || page === 'REPLACED') return reset('LOG_REPLACED')
      if (page === 'PRUNED') return reset('LOG_PRUNED')
      checked = page.position
      if (page.rows.length > 0) {
        await say({ kind: 'updates', after: position, position: checked, rows: page.rows })
        // All of this may run without waiting for anything: others want their turn.
        await setImmediate()
      } else if (checked.seq < tip.seq) {
        // The log grew while it was read, or the page ended.
      } else if (isBehind) {
        await say({
          kind: 'progress',
          after: position,
          position: checked,
          slot: tip.slot,
          isLive: true,
        })
        isBehind = false
      } else if (!isLeft) {
        // Not a moment has passed since the tip was looked at.
        return joinLive(shared, stream, member, position)
      }
    }
  }

  async function say(told: FeedMessage): Promise<void> {
    const text = await textOf(shared, stream, told)
    if (isLeft) return
    sink.take(text, told)
    position = told.position
  }

  async function roomFor(): Promise<void> {
    while (!isLeft && !sink.hasRoom()) await sink.room()
  }

  async function reset(reason: ResetMessage['reason']): Promise<void> {
    await say({ kind: 'reset', position, reason, tip: tail.tip() })
    end()
  }

  /** A database that is away is waited for; what was told already is not told again. */
  async function guarded(work: () => Promise<void>): Promise<void> {
    for (let next = work; !isLeft; next = () => goOn(true)) {
      try {
        await next()
        return
      } catch (failure) {
        shared.complain(failure)
        await delay(shared.retryMs, undefined, { ref: false })
      }
    }
  }

  async function tell(notice: Notice): Promise<void> {
    try {
      const at = member.group?.position ?? position
      const message = { kind: 'notice', position: at, notice } as const
      const text = await textOf(shared, stream, message)
      if (!isLeft) sink.take(text, message)
    } catch (failure) {
      // A notice moves nothing: the feed goes on without it.
      shared.complain(failure)
    }
  }

  function leave(): void {
    if (isLeft) return
    isLeft = true
    leaveLive(stream, member)
    onEnd()
  }

  function end(): void {
    if (isLeft) return
    leave()
    sink.end()
  }

  begin().catch((failure: unknown) => {
    // Half a snapshot is worse than none: whoever asked begins again.
    shared.complain(failure)
    end()
  })
  return { filter: stream.filter, emit: tell, leave, end }
}
