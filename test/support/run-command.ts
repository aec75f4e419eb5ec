import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Command, ProcessIo } from '../../src/cli/command.ts'
import { systemClock } from '../../src/lib/clock.ts'

/** The output and the exit code of a command. */
export interface CommandRun {
  readonly stdout: string
  readonly stderr: string
  readonly code: number
}

/** Runs a command in this process; its input is empty by default. */
export async function runCommand(
  command: Pick<Command, 'run'>,
  args: readonly string[],
  io: Partial<ProcessIo> = {},
): Promise<CommandRun> {
  let stdout = ''
  let stderr = ''
  const code = await command.run(
    {
      env: {},
      clock: systemClock,
      stdin: Readable.from([]),
      isTerminal: false,
      progressColumns: undefined,
      stdout: (part) => {
        stdout += part
      },
      stderr: (part) => {
        stderr += part
      },
      stopped: new Promise(() => {}),
      onClockConfirmed: () => {},
      ...io,
    },
    args,
  )
  return { stdout, stderr, code }
}

/** Runs a command in its own process, as users do. */
export async function runAsProcess(name: string, input: string): Promise<CommandRun> {
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  const child = spawn(process.execPath, [main, name])
  child.stdin.end(input)
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { stdout, stderr, code }
}
