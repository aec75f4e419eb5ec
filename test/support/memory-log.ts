import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { createLog, type Log } from '../../src/lib/log.ts'

/** A log that is kept, for tests that ask what an operator was told. */
export interface MemoryLog {
  readonly log: Log
  /** Every line so far, from level `debug` on. */
  readonly lines: readonly string[]
  /** Every event so far, parsed. */
  events(): readonly LoggedEvent[]
  /** The names of the events of some names, in the order they were written. */
  names(...among: readonly string[]): readonly string[]
}

/** A line of the log; its other fields are the event's own. */
export interface LoggedEvent {
  readonly event: string
  readonly level: string
  readonly [field: string]: unknown
}

/** An empty log. */
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
