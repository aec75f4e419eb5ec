import { type Clock, nowMs } from './clock.ts'

/** One JSON line per event: a fixed name and fixed fields (style 8). Never a token or a key. */
export interface Log {
  debug(event: string, fields?: LogFields): void
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
}

/** The fields of one event. An `Error` is written with its message, stack and causes; a bigint as decimal text. */
export interface LogFields {
  readonly [name: string]: unknown
}

/** The levels, the most talkative first. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** From which level on events are written; `silent` writes none. */
export type LogLevel = (typeof logLevels)[number]

/** What a log needs. */
export interface LogDeps {
  readonly clock: Clock
  /** Takes one line with its line feed. */
  readonly write: (line: string) => void
  /** Fields of every event. */
  readonly fields?: LogFields | undefined
}

/** A log that writes events from `level` on. */
export function createLog(deps: LogDeps, level: LogLevel): Log {
  const threshold = logLevels.indexOf(level)
  const at = (name: Exclude<LogLevel, 'silent'>) =>
    logLevels.indexOf(name) < threshold
      ? () => {}
      : (event: string, fields: LogFields = {}) =>
          deps.write(line(deps.clock, name, event, { ...deps.fields, ...fields }))
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** A log that forgets everything. */
export const silentLog: Log = createLog({ clock: { nowNs: () => 0n }, write: () => {} }, 'silent')

function line(clock: Clock, level: string, event: string, fields: LogFields): string {
  const time = new Date(nowMs(clock)).toISOString()
  return `${JSON.stringify({ time, level, event, ...fields }, writable)}\n`
}

/** JSON has neither errors nor bigints. `value` is what a `toJSON` made of a bigint, which some libraries give to all of them. */
function writable(this: LogFields, key: string, value: unknown): unknown {
  const given = this[key]
  if (typeof given === 'bigint') return given.toString()
  if (value instanceof Error) return errorFields(value)
  return value
}

function errorFields(error: Error): LogFields {
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause === undefined ? {} : { cause }) }
}
