import { type Clock, nowMs } from './clock.ts'

/** Writes one JSON line per event, with a fixed name and fixed fields (style 8). Never log a token or a key. */
export interface Log {
  debug(event: string, fields?: LogFields): void
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
}

/** The fields of one event. An `Error` is written with its message, stack and causes, and a bigint as decimal text. */
export interface LogFields {
  readonly [name: string]: unknown
}

/** The levels, from the most to the least verbose. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** The lowest level that is written. `silent` writes no events. */
export type LogLevel = (typeof logLevels)[number]

export interface LogDeps {
  readonly clock: Clock
  /** Writes one line, which includes its line feed. */
  readonly write: (line: string) => void
  /** Fields that are added to every event. */
  readonly fields?: LogFields | undefined
}

/** Creates a log that writes events of `level` and above. */
export function createLog(deps: LogDeps, level: LogLevel): Log {
  const threshold = logLevels.indexOf(level)
  const at = (name: Exclude<LogLevel, 'silent'>) =>
    logLevels.indexOf(name) < threshold
      ? () => {}
      : (event: string, fields: LogFields = {}) =>
          deps.write(line(deps.clock, name, event, { ...deps.fields, ...fields }))
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** A log that writes nothing. */
export const silentLog: Log = createLog({ clock: { nowNs: () => 0n }, write: () => {} }, 'silent')

function line(clock: Clock, level: string, event: string, fields: LogFields): string {
  const time = new Date(nowMs(clock)).toISOString()
  return `${JSON.stringify({ time, level, event, ...fields }, writable)}\n`
}

/** Converts errors and bigints, which JSON lacks. Some libraries add a `toJSON` to all bigints; `value` is then its result. */
function writable(this: LogFields, key: string, value: unknown): unknown {
  const original = this[key]
  if (typeof original === 'bigint') return original.toString()
  if (value instanceof Error) return errorFields(value)
  return value
}

function errorFields(error: Error): LogFields {
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause === undefined ? {} : { cause }) }
}
