import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { heapArguments } from '../../../src/heap.ts'
import { compile } from '../../support/compiled.ts'
import type { ClientCommand, ClientReply, Mode, ServerCommand, ServerReply } from './protocol.ts'

/** The processes of the benchmark. Each executes one command at a time. */

/** A process that executes commands and replies to each. */
interface CommandProcess<Command, Reply> {
  ask(command: Command): Promise<Reply>
  end(): void
}

function start<Command extends object, Reply>(
  file: URL,
  args: readonly string[],
): CommandProcess<Command, Reply> & { readonly child: ChildProcess } {
  const child = fork(file, { execArgv: [...args] })

  async function ask(command: Command): Promise<Reply> {
    const message = once(child, 'message')
    child.send(command)
    const [reply] = await message
    return reply
  }

  return { child, ask, end: () => child.kill('SIGKILL') }
}

/** The server and its clients. */
export interface Bench {
  readonly server: CommandProcess<ServerCommand, ServerReply>
  /** Opens clients, divided among the processes, and resolves when all feeds are open. */
  open(options: OpenOptions): Promise<void>
  /** Commits a slot and waits until the clients have received it `deliveries` times. */
  commit(addresses: readonly number[], mode: Mode, deliveries: number): Promise<void>
  /** The latencies of the deliveries since the former call, from commit to client, in milliseconds and ascending order. */
  latencies(): Promise<number[]>
  /** Makes the newest client of the first process read or stop reading. */
  read(isReading: boolean): Promise<void>
  /** Destroys all connections at once. */
  cut(): Promise<void>
  /** The length of the newest delivery in bytes. */
  bytes(): Promise<number>
  end(): void
}

/** The clients to open. */
export interface OpenOptions {
  readonly mode: Mode
  readonly count: number
  /** The filter of the clients: one address per client, the same address for all, or the whole ledger. */
  readonly of: 'own' | 'one' | 'all'
  readonly after?: string
}

/** Starts a server and two processes of clients. */
export async function startBench(): Promise<Bench> {
  const files = ['server', 'clients'].map((name) => `test/bench/feed/${name}.ts`)
  const folder = new URL('test/bench/feed/', compile('bench-feed', files))
  const server = start<ServerCommand, ServerReply>(new URL('server.js', folder), [
    '--expose-gc',
    ...heapArguments,
  ])
  const [first] = await once(server.child, 'message')
  const { port, barePort }: ServerReply = first
  const processes = [0, 1].map(() =>
    start<ClientCommand, ClientReply>(new URL('clients.js', folder), []),
  )
  const all = (command: ClientCommand) => Promise.all(processes.map((one) => one.ask(command)))
  let committed: (readonly [number, string])[] = []

  async function delivered(): Promise<number> {
    const replies = await all({ do: 'count' })
    return replies.reduce((sum, { deliveries }) => sum + deliveries, 0)
  }

  async function open({ mode, count, of, after }: OpenOptions): Promise<void> {
    const share = Math.ceil(count / processes.length)
    await Promise.all(
      processes.map((one, i) =>
        one.ask({
          do: 'open',
          mode,
          port: mode === 'gateway' ? port : barePort,
          count: Math.min(share, count - i * share),
          firstAddress: of === 'own' ? i * share : of,
          after,
          atOnce: 100,
        }),
      ),
    )
  }

  async function commit(
    addresses: readonly number[],
    mode: Mode,
    deliveries: number,
  ): Promise<void> {
    const before = await delivered()
    const { committedAt, milestoneIndex } = await server.ask({ do: 'commit', addresses, mode })
    committed.push([milestoneIndex, committedAt])
    const giveUp = performance.now() + 20_000
    while ((await delivered()) < before + deliveries) {
      if (performance.now() > giveUp) throw new Error('some clients did not receive the update')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async function latencies(): Promise<number[]> {
    const replies = await all({ do: 'latencies', committedAt: committed })
    committed = []
    return replies.flatMap((reply) => reply.latencies).sort((a, b) => a - b)
  }

  return {
    server,
    open,
    commit,
    latencies,
    read: async (isReading) => void (await processes[0]?.ask({ do: 'read', isReading })),
    cut: async () => void (await all({ do: 'cut' })),
    bytes: async () => Math.max(...(await all({ do: 'count' })).map(({ bytes }) => bytes)),
    end: () => {
      for (const one of [server, ...processes]) one.end()
    },
  }
}
