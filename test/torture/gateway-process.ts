import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Folder } from '../support/program.ts'

/** What the gateway under torture is told over its channel. */
export interface GatewayCommand {
  /** Moves its clock. */
  readonly jumpMs: number
}

/** What it says when it is ready. */
export interface GatewayReport {
  readonly url: string
}

/** The gateway under torture, which is killed and started again at one address. */
export interface TorturedGateway {
  /** Of the root, without a slash at its end; the same for every life. */
  readonly url: string
  /** How far its clock is ahead of ours, in milliseconds. */
  offsetMs(): number
  /** Moves its clock, also that of its later lives. */
  jump(ms: number): void
  kill(): Promise<void>
  /** Starts it again; when told so, it hears of no commit in this life. */
  start(options: { readonly losesWakeUps: boolean }): Promise<void>
  /** Ends it in order. */
  end(): Promise<void>
  /** What its lives wrote about things that went wrong. */
  complaints(): readonly string[]
}

/** Starts it for the first time; `program` is the compiled file. */
export async function startTorturedGateway(program: URL, folder: Folder): Promise<TorturedGateway> {
  let offsetMs = 0
  let port = '0'
  let child: ChildProcess | undefined
  let url = ''
  const complaints: string[] = []

  async function start({ losesWakeUps }: { readonly losesWakeUps: boolean }): Promise<void> {
    child = fork(program, {
      env: {
        PORT: port,
        DATABASE_URL: folder.databaseUrl,
        LOG_LEVEL: 'warn',
        DRAIN_SECONDS: '1',
        TORTURE_OFFSET_MS: String(offsetMs),
        TORTURE_LOSE_WAKE_UPS: losesWakeUps ? '1' : '0',
      },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => complaints.push(text))
    const ended = once(child, 'exit').then(() => {
      throw new Error(`the gateway did not start: ${complaints.at(-1)}`)
    })
    const [report]: GatewayReport[] = await Promise.race([once(child, 'message'), ended])
    url = report?.url ?? url
    port = new URL(url).port
    // From here on it may end.
    ended.catch(() => {})
  }

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (child === undefined || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  await start({ losesWakeUps: false })
  return {
    url,
    offsetMs: () => offsetMs,
    jump: (ms) => {
      offsetMs += ms
      const command: GatewayCommand = { jumpMs: ms }
      if (child?.connected) child.send(command)
    },
    kill: () => end('SIGKILL'),
    start,
    end: () => end('SIGTERM'),
    complaints: () => complaints,
  }
}
