import { setTimeout as delay } from 'node:timers/promises'
import type { FeedUpdate, UpdateClass } from '../../src/client/events.ts'
import type { Random } from '../support/random.ts'
import { canTake, type DoorName, doors, type Step } from './doors.ts'

/** One client: it takes one door after another, always with the cursor it has, and writes down what it is told. */

/** A client at work. */
export interface Listener {
  readonly addresses: readonly string[] | undefined
  readonly classes: readonly UpdateClass[]
  /** Everything it was told, in the order of telling. */
  readonly history: readonly FeedUpdate[]
  /** Where it began; `undefined` before it did. */
  startCursor(): string | undefined
  cursor(): string | undefined
  readonly counts: ListenerCounts
  /** What was wrong with what it was told. */
  faults(): readonly string[]
  stop(): Promise<void>
}

/** What a client did. */
export interface ListenerCounts {
  readonly sessions: Record<DoorName, number>
  /** Times that it left in the middle. */
  disconnects: number
  /** Times that it stopped reading for a while. */
  stalls: number
  /** Times that its line broke, or there was none. */
  breaks: number
}

/** Who a client is. */
export interface ListenerOptions {
  /** Of one gateway, or of several on one log: then each door may be another one's. */
  readonly urls: readonly [string, ...string[]]
  readonly addresses: readonly string[] | undefined
  readonly classes: readonly UpdateClass[]
  /** Where it begins; `undefined` for whatever is committed from now on. */
  readonly after: string | undefined
  readonly random: Random
}

/** Starts a client. */
export function startListener({ urls, random, ...options }: ListenerOptions): Listener {
  const { addresses, classes } = options
  const history: FeedUpdate[] = []
  const faults: string[] = []
  let start = options.after
  let cursor = options.after
  const counts: ListenerCounts = {
    sessions: { websocket: 0, events: 0, poll: 0, connection: 0, client: 0 },
    disconnects: 0,
    stalls: 0,
    breaks: 0,
  }
  const ending = new AbortController()
  const { signal } = ending
  const running = run()

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const url = urls[random.between(0, urls.length - 1)] ?? urls[0]
      const session = { url, addresses, classes, after: cursor, random, signal }
      const name = pick(
        Object.keys(doors)
          .filter(isDoor)
          .filter((door) => canTake(door, session)),
      )
      counts.sessions[name]++
      try {
        await listen(doors[name](session))
      } catch {
        // The gateway is away, or the line broke.
        if (signal.aborted) return
        counts.breaks++
        await delay(random.between(100, 1_000), undefined, { signal }).catch(() => {})
      }
    }
  }

  async function listen(steps: AsyncIterable<Step>): Promise<void> {
    let left = random.between(1, 40)
    for await (const step of steps) {
      take(step)
      left--
      if (left <= 0) {
        counts.disconnects++
        return
      }
      if (random.between(0, 60) === 0) {
        counts.stalls++
        await delay(random.between(200, 3_000), undefined, { signal }).catch(() => {})
      }
    }
  }

  function take(step: Step): void {
    if (cursor === undefined) {
      start = step.previousCursor ?? step.cursor
    } else if (
      step.isOpening ? step.cursor !== cursor : (step.previousCursor ?? cursor) !== cursor
    ) {
      faults.push(`at ${cursor} came a step from ${step.previousCursor ?? step.cursor}`)
    }
    history.push(...step.updates)
    cursor = step.cursor
  }

  function pick(names: readonly DoorName[]): DoorName {
    return names[random.between(0, names.length - 1)] ?? 'websocket'
  }

  return {
    addresses,
    classes,
    history,
    startCursor: () => start,
    cursor: () => cursor,
    counts,
    faults: () => faults,
    stop: async () => {
      ending.abort()
      await running
    },
  }
}

function isDoor(name: string): name is DoorName {
  return name in doors
}
