import type { Environment } from '../config.ts'
import type { MachineClock } from '../lib/clock.ts'
import type { Setting } from '../settings.ts'

/** What every command is, and what commands print with. */

/** One command of `ledger-gateway`. */
export interface Command {
  /** Runs the command with the words after its name, and gives the exit code of the process. */
  run(process: ProcessIo, words: readonly string[]): Promise<number>
}

/** What a command has of its process. */
export interface ProcessIo {
  readonly env: Environment
  readonly clock: MachineClock
  /** Standard input; it ends when the process shall end. */
  readonly stdin: AsyncIterable<Uint8Array>
  /** Whether people read standard output; a program gets JSON. */
  readonly isTerminal: boolean
  /** The width of the terminal that shows standard error; `undefined` where people do not read it. */
  readonly progressColumns: number | undefined
  stdout(text: string): void
  stderr(text: string): void
  /** Calls `act` whenever the operator says that the clock of the machine is right (`SIGUSR2`). */
  onClockConfirmed(act: () => void): void
  /** Fulfilled when the process shall end, with what it was asked by. */
  readonly stopped: Promise<StopSignal>
}

/** The signal that asks a process to end: Ctrl-C in a terminal, or SIGTERM from its supervisor. */
export type StopSignal = 'SIGINT' | 'SIGTERM'

/** Exit code of a command that did its work. */
export const done = 0
/** Exit code of a command that could not. */
export const failed = 1
/** Exit code of a command that was asked wrongly. */
export const misused = 2
/** Exit code of a command that was stopped a second time. */
export const cutShort = 130

/** How a command ends, for people who write scripts. */
export const exitCodes = [
  { code: done, meaning: 'the command did its work, or was stopped in order' },
  {
    code: failed,
    meaning: 'it could not: the database, the gateway or the file is not as it needs it',
  },
  { code: misused, meaning: 'it was called wrongly, and has done nothing' },
  { code: cutShort, meaning: 'a second signal to stop came while it ended' },
] as const

/** Whether any of the words asks for help. */
export function asksForHelp(words: readonly string[]): boolean {
  return words.includes('--help') || words.includes('-h')
}

/** Says everything that is wrong with a call, and where the help is. */
export function refuse(process: ProcessIo, command: string, problems: readonly string[]): number {
  for (const problem of problems) process.stderr(`ledger-gateway ${command}: ${problem}\n`)
  process.stderr(`Try: ledger-gateway ${command} --help\n`)
  return misused
}

/** Lines of the help with their explanations in one column. */
export function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd()).join('\n')
}

/** The lines of the help about settings: flag, variable, meaning and default. */
export function settingTable(settings: readonly Setting[]): string {
  return table(
    settings.map(({ flag, value, variable, help, byDefault }) => [
      flag === undefined ? '' : `--${flag} ${value}`,
      `${variable}: ${help}${byDefault === undefined ? '' : ` (${byDefault})`}`,
    ]),
  )
}
