import { once } from 'node:events'
import type { Environment } from '../../../src/config.ts'
import { type SpawnedProgram, spawnProgram } from '../../support/program.ts'

/** A gateway of the cluster: a process that is killed, paused and started again at one address. */
export interface ClusterGateway {
  /** Of the root, without a slash at its end; the same for every life. */
  readonly url: string
  pid(): number
  kill(): Promise<void>
  /** Starts it again after a kill. */
  start(): Promise<void>
  /** Stops the process in the middle of whatever it does. */
  pause(): void
  /** Lets it go on. */
  wake(): void
  /** Ends it in order. */
  end(): Promise<void>
  /** The lines of its log so far, of all its lives. */
  lines(): readonly LogLine[]
}

/** A line of a gateway's log. */
export interface LogLine {
  readonly level: string
  readonly event: string
  readonly text: string
}

/** Starts a gateway on any free port. */
export async function startClusterGateway(env: Environment): Promise<ClusterGateway> {
  const lives: SpawnedProgram[] = []
  let program = spawnProgram(env)
  lives.push(program)
  const url = await program.ready
  const { port } = new URL(url)

  async function start(): Promise<void> {
    program = spawnProgram({ ...env, PORT: port })
    lives.push(program)
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
    lines: () => lives.flatMap((life) => life.logged().split('\n').flatMap(parseLine)),
  }
}

/** A process that was killed may have left half a line. */
function parseLine(text: string): LogLine[] {
  try {
    const { level, event } = JSON.parse(text)
    return [{ level, event, text }]
  } catch {
    return text === '' || text.startsWith('{') ? [] : [{ level: 'error', event: 'words', text }]
  }
}
