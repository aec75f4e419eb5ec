import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { present } from '../../../src/lib/assert.ts'
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

/** Installs the packages of the peers where they are missing, and generates what one of them generates. */
export function installPeers(): void {
  if (existsSync(join(folder, 'node_modules/.package-lock.json'))) return
  console.log('The packages of the peers are installed into test/bench/peers/node_modules …\n')
  const npm = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  execFileSync('npm', npm, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Starts a server under this Node; ours is the built program. */
export function startServer(peer: Peer, ledger: LargeLedger): Promise<Server> {
  return peer.file === undefined ? startOurs(ledger) : startPeer(peer.file, ledger)
}

async function startOurs(ledger: LargeLedger): Promise<Server> {
  const gateway = await startGateway(ledger)
  const pid = present(gateway.process.pid, 'its number')
  return {
    port: Number(new URL(gateway.url).port),
    spent: () => processorMs(pid),
    hold: () => {},
    goOn: () => {},
    end: () => gateway.end('SIGTERM'),
  }
}

async function startPeer(file: string, { url, began }: LargeLedger): Promise<Server> {
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

/** What a peer starts is started by the same Node. */
const path = [dirname(process.execPath), process.env.PATH].join(':')

function portOf(child: ChildProcess, file: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('message', (message: { readonly port: number }) => resolve(message.port))
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)))
  })
}
