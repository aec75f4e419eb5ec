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

/** Servers of a ledger as processes of their own. */

/** One that is there. */
export interface Server {
  readonly port: number
  /** Milliseconds of processor time so far. */
  spent(): number
  /** Holds it, so that another one has the machine, and lets it go on. A gateway goes on always: it has slots to commit. */
  hold(): void
  goOn(): void
  end(): Promise<void>
}

const folder = fileURLToPath(new URL('../peers/', import.meta.url))

/** What a peer starts is started by the same Node. */
const path = [dirname(process.execPath), process.env.PATH].join(':')

/** Installs the packages of the peers where they are missing, and generates what one of them generates. */
export function installPeers(): void {
  installPackages(folder, '--ignore-scripts')
  execFileSync(process.execPath, [join(folder, 'generate.ts')], {
    env: { PATH: path },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** Starts a server under this Node; ours is the built program. */
export async function startServer(peer: Peer, ledger: LargeLedger): Promise<Server> {
  if (peer.file !== undefined) return startPeer(peer.file, ledger)
  return serverOf(await startGateway(ledger))
}

/** A gateway as one of the servers. */
export function serverOf(gateway: Program): Server {
  const pid = present(gateway.process.pid, 'its number')
  return {
    port: Number(new URL(gateway.url).port),
    spent: () => processorMs(pid),
    hold: () => {},
    goOn: () => {},
    end: () => gateway.end('SIGTERM'),
  }
}

/** What a peer has to know of a ledger. */
export type PeerLedger = Pick<LargeLedger, 'url' | 'began'>

/** Starts a program of `test/bench/peers`. */
export async function startPeer(file: string, { url, began }: PeerLedger): Promise<Server> {
  const env = { PATH: path, NODE_ENV: 'production', GRAPHILE_ENV: 'production' }
  const child = fork(join(folder, file), [url, String(began)], { cwd: folder, env, execArgv: [] })
  const pid = present(child.pid, 'its number')
  return {
    port: await portOf(child, file),
    spent: () => processorMs(pid),
    hold: () => void child.kill('SIGSTOP'),
    goOn: () => void child.kill('SIGCONT'),
    end: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

function portOf(child: ChildProcess, file: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('message', (message: { readonly port: number }) => resolve(message.port))
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)))
  })
}

/** Clients that send blocks to a gateway. */
export interface Sender {
  /** How many blocks were taken so far, up to some milliseconds ago. */
  accepted(): number
  end(): Promise<void>
}

/** Starts to send blocks, so many a second. */
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
    end: async () => {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}
