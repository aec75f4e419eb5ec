import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { createLog, type Log } from '../../src/lib/log.ts'

/** A log in memory, for tests that check log events. */
export interface MemoryLog {
  readonly log: Log
  /** Every written line, from level `debug` on. */
  readonly lines: readonly string[]
  /** Every written event, parsed. */
  events(): readonly LoggedEvent[]
  /** The names of the written events that are in `among`, in the order of writing. */
  names(...among: readonly string[]): readonly string[]
}

/** A line of the log. Its other members are the fields of the event. */
export interface LoggedEvent {
  readonly event: string
  readonly level: string
  readonly [field: string]: unknown
}

/** Creates an empty log. */
export function createMemoryLog(clock: Clock = systemClock): MemoryLog {
  const lines: string[] = []
  const events = () => lines.map((line): LoggedEvent => JSON.parse(line))
  return {
    log: createLog({ clock, write: (line) => void lines.push(line) }, 'debug'),
    lines,
    events,
    names: (...among) =>
      events()
        .map(({ event }) => event)
        .filter((event) => among.includes(event)),
  }
}
