import { once } from 'node:events'
import type { Environment } from '../../../src/config.ts'
import { type SpawnedProgram, spawnProgram } from '../../support/program.ts'

/** A gateway of the cluster: a process that can be killed, paused and restarted at the same address. */
export interface ClusterGateway {
  /** The root URL, without a slash at its end; the same after each restart. */
  readonly url: string
  pid(): number
  kill(): Promise<void>
  /** Restarts it after a kill. */
  start(): Promise<void>
  /** Pauses the process (SIGSTOP). */
  pause(): void
  /** Resumes the process (SIGCONT). */
  wake(): void
  /** Shuts it down. */
  end(): Promise<void>
  /** All lines of its log so far, including those before restarts. */
  lines(): readonly LogLine[]
}

/** A line of a gateway's log. */
export interface LogLine {
  readonly level: string
  readonly event: string
  readonly text: string
}

/** Returns the URLs of gateways. */
export function urlsOf(gateways: readonly ClusterGateway[]): readonly [string, ...string[]] {
  const [first = '', ...others] = gateways.map(({ url }) => url)
  return [first, ...others]
}

/** Returns the error lines of a gateway's log, except for the expected events. */
export function loggedErrors(
  { lines, url }: ClusterGateway,
  expectedEvents: readonly string[] = [],
): readonly string[] {
  return lines()
    .filter(({ level, event }) => level === 'error' && !expectedEvents.includes(event))
    .map(({ text }) => `${url} logged ${text.slice(0, 1_000)}`)
}

/** Returns the lines in which a gateway logged that it resets feeds. */
export function loggedResets({ lines, url }: ClusterGateway): readonly string[] {
  return lines()
    .filter(({ event }) => event === 'log-replaced')
    .map(({ text }) => `${url} logged ${text.slice(0, 1_000)}`)
}

/** Starts a gateway on any free port. */
export async function startClusterGateway(env: Environment): Promise<ClusterGateway> {
  const programs: SpawnedProgram[] = []
  let program = spawnProgram(env)
  programs.push(program)
  const url = await program.ready
  const { port } = new URL(url)

  async function start(): Promise<void> {
    program = spawnProgram({ ...env, PORT: port })
    programs.push(program)
    await program.ready
  }

  async function kill(): Promise<void> {
    const ended = once(program.process, 'exit')
    program.process.kill('SIGKILL')
    await ended
  }

  async function end(): Promise<void> {
    if (program.process.exitCode === null && program.process.signalCode === null) {
      await program.end('SIGTERM')
    }
  }

  return {
    url,
    pid: () => program.process.pid ?? 0,
    kill,
    start,
    pause: () => void program.process.kill('SIGSTOP'),
    wake: () => void program.process.kill('SIGCONT'),
    end,
    lines: () => programs.flatMap((one) => one.logged().split('\n').flatMap(parseLine)),
  }
}

/** Returns nothing for an incomplete line, which a killed process can leave. */
function parseLine(text: string): LogLine[] {
  try {
    const { level, event } = JSON.parse(text)
    return [{ level, event, text }]
  } catch {
    return text === '' || text.startsWith('{') ? [] : [{ level: 'error', event: 'words', text }]
  }
}
