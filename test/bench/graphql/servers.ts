import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { present } from '../../../src/lib/assert.ts'
import { installPackages } from '../../support/install-packages.ts'
import type { Program } from '../../support/program.ts'
import { processorMs } from '../cluster/processor.ts'
import { type LargeLedger, startGateway } from './data.ts'
import type { Peer } from './peers.ts'

/** The compared servers, each in its own process. */

/** A running server. */
export interface Server {
  readonly port: number
  /** The processor time of the server in milliseconds. */
  spent(): number
  /** `pause` stops the process, so that another server has the machine. It has no effect on a gateway, which has to commit slots. */
  pause(): void
  resume(): void
  end(): Promise<void>
}

const folder = fileURLToPath(new URL('../peers/', import.meta.url))

/** Makes the child processes of a peer use the same Node. */
const path = [dirname(process.execPath), process.env.PATH].join(':')

/** Installs the packages of the peers if they are missing, and generates their Prisma clients. */
export function installPeers(): void {
  installPackages(folder, '--ignore-scripts')
  execFileSync(process.execPath, [join(folder, 'generate.ts')], {
    env: { PATH: path },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** Starts a server with this Node; the gateway is the built program. */
export async function startServer(peer: Peer, ledger: LargeLedger): Promise<Server> {
  if (peer.file !== undefined) return startPeer(peer.file, ledger)
  return serverOf(await startGateway(ledger))
}

/** A running gateway as a server. */
export function serverOf(gateway: Program): Server {
  const pid = present(gateway.process.pid, 'its number')
  return {
    port: Number(new URL(gateway.url).port),
    spent: () => processorMs(pid),
    pause: () => {},
    resume: () => {},
    end: () => gateway.end('SIGTERM'),
  }
}

/** The data of a ledger that a peer needs. */
export type PeerLedger = Pick<LargeLedger, 'url' | 'began'>

/** A peer, with its process and everything that it wrote to standard error. */
export interface PeerServer extends Server {
  readonly process: ChildProcess
  logged(): string
}

/** Starts a program of `test/bench/peers`, optionally with more environment variables. */
export async function startPeer(
  file: string,
  { url, began }: PeerLedger,
  settings: Readonly<Record<string, string>> = {},
): Promise<PeerServer> {
  const env = { PATH: path, NODE_ENV: 'production', GRAPHILE_ENV: 'production', ...settings }
  const stdio = ['inherit', 'inherit', 'pipe', 'ipc'] as const
  const options = { cwd: folder, env, execArgv: [], stdio: [...stdio] }
  const child = fork(join(folder, file), [url, String(began)], options)
  let logged = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    logged += text
  })
  const pid = present(child.pid, 'its number')
  return {
    process: child,
    logged: () => logged,
    port: await portOf(child, file, () => logged),
    spent: () => processorMs(pid),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    end: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

function portOf(child: ChildProcess, file: string, logged: () => string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('message', (message: { readonly port: number }) => resolve(message.port))
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}: ${logged()}`)))
  })
}

/** A process that sends blocks to a gateway. */
export interface Sender {
  /** The number of accepted blocks; the value is some milliseconds old. */
  accepted(): number
  pause(): void
  resume(): void
  end(): Promise<void>
}

/** Starts a process that sends `perSecond` blocks per second. */
export async function startSender(
  port: number,
  perSecond: number,
  kind: 'tagged' | 'transfers',
): Promise<Sender> {
  const program = fileURLToPath(new URL('sender.ts', import.meta.url))
  const words = [`http://127.0.0.1:${port}`, String(perSecond), kind]
  const child = fork(program, words, { execArgv: [] })
  let accepted = 0
  child.on('message', (counts: { readonly accepted: number }) => {
    accepted = counts.accepted
  })
  await once(child, 'message')
  return {
    accepted: () => accepted,
    pause: () => void child.send('pause'),
    resume: () => void child.send('resume'),
    end: async () => {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}
