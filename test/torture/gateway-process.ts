import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Folder } from '../support/program.ts'

/** A message to the gateway under torture, by IPC. */
export interface GatewayCommand {
  /** The milliseconds by which it moves its clock. */
  readonly jumpMs: number
}

/** The message of the gateway when it is ready. */
export interface GatewayReport {
  readonly url: string
}

/** The gateway under torture, which is killed and restarted at the same address. */
export interface TorturedGateway {
  /** The root URL, without a slash at its end; the same after each restart. */
  readonly url: string
  /** The offset of its clock from the system clock, in milliseconds. */
  offsetMs(): number
  /** Moves its clock. The offset remains after restarts. */
  jump(ms: number): void
  kill(): Promise<void>
  /** Restarts it. With `losesWakeUps` it receives no notification of commits until it is killed. */
  start(options: { readonly losesWakeUps: boolean }): Promise<void>
  /** Shuts it down. */
  end(): Promise<void>
}

/** Starts it for the first time. `program` is the compiled file. */
export async function startTorturedGateway(program: URL, folder: Folder): Promise<TorturedGateway> {
  let offsetMs = 0
  let port = '0'
  let child: ChildProcess | undefined
  let url = ''
  let lastError = ''

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
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      lastError = text
    })
    const ended = once(child, 'exit').then(() => {
      throw new Error(`the gateway did not start: ${lastError}`)
    })
    const [report]: GatewayReport[] = await Promise.race([once(child, 'message'), ended])
    url = report?.url ?? url
    port = new URL(url).port
    // The process may end after this.
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
  }
}
