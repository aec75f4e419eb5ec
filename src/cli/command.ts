import type { Environment } from '../config.ts'
import type { MachineClock } from '../lib/clock.ts'
import type { Setting } from '../settings.ts'

/** The interface of every command, and functions that format its output. */

export interface Command {
  /** Runs the command with the arguments after its name, and resolves to the exit code of the process. */
  run(process: ProcessIo, words: readonly string[]): Promise<number>
}

/** The parts of its process that a command uses. */
export interface ProcessIo {
  readonly env: Environment
  readonly clock: MachineClock
  /** Standard input; it ends when the process has to stop. */
  readonly stdin: AsyncIterable<Uint8Array>
  /** Whether standard output is a terminal; otherwise commands print JSON. */
  readonly isTerminal: boolean
  /** Width of the terminal that shows standard error; `undefined` if standard error is not a terminal. */
  readonly progressColumns: number | undefined
  stdout(text: string): void
  stderr(text: string): void
  /** Calls `act` whenever the operator confirms that the clock of the machine is correct (`SIGUSR2`). */
  onClockConfirmed(act: () => void): void
  /** Resolves to the signal when the process has to stop. */
  readonly stopped: Promise<StopSignal>
}

/** The signal that stops a process: SIGINT for Ctrl-C or a terminal that closes, or SIGTERM from its supervisor. */
export type StopSignal = 'SIGINT' | 'SIGTERM'

/** Exit code of a command that succeeded. */
export const done = 0
/** Exit code of a command that failed. */
export const failed = 1
/** Exit code of a command that was called with invalid arguments. */
export const misused = 2
/** Exit code of a command that received a second stop signal. */
export const forcedStop = 130

/** The exit codes and their meanings, for the help. */
export const exitCodes = [
  { code: done, meaning: 'the command succeeded, or was stopped and shut down in order' },
  {
    code: failed,
    meaning: 'the command failed, for example because of the database, the gateway or a file',
  },
  { code: misused, meaning: 'the arguments are invalid; nothing was done' },
  { code: forcedStop, meaning: 'a second stop signal arrived during the shutdown' },
] as const

/** Whether any of the arguments asks for help. */
export function requestsHelp(words: readonly string[]): boolean {
  return words.includes('--help') || words.includes('-h')
}

/** Prints all problems of a call and how to show the help; returns the exit code. */
export function refuse(process: ProcessIo, command: string, problems: readonly string[]): number {
  for (const problem of problems) process.stderr(`ledger-gateway ${command}: ${problem}\n`)
  process.stderr(`Try: ledger-gateway ${command} --help\n`)
  return misused
}

/** Prints why a command failed; returns the exit code. */
export function fail(process: ProcessIo, command: string, reason: string): number {
  process.stderr(`ledger-gateway ${command}: ${reason}\n`)
  return failed
}

/** Formats rows as two aligned columns. */
export function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd()).join('\n')
}

/** Formats settings for the help: flag, variable, description and default. */
export function settingTable(settings: readonly Setting[]): string {
  return table(
    settings.map(({ flag, value, variable, help, byDefault }) => [
      flag === undefined ? '' : `--${flag} ${value}`,
      `${variable}: ${help}${byDefault === undefined ? '' : ` (${byDefault})`}`,
    ]),
  )
}
