import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { useServer } from 'graphql-ws/use/ws'
import { type WebSocket, WebSocketServer } from 'ws'
import { createBudget } from '../../../src/api/graphql/execution/budget.ts'
import { schema } from '../../../src/api/graphql/schema.ts'
import { openFeed } from '../../../src/feed/open.ts'
import { createWake } from '../../../src/feed/wake.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { silentLog } from '../../../src/lib/log.ts'
import type { Services } from '../../../src/service/services.ts'
import type { LogEntry } from '../../../src/store/rows.ts'
import { fullShare } from '../../support/full-share.ts'
import { openLogStore, outputIdOf } from '../../support/log-store.ts'
import { servedParameters } from '../../support/serve-log.ts'
import { startTransports } from '../../support/start-gateway.ts'
import { benchKey } from './addresses.ts'
import { type Mode, pathOf, type ServerCommand, type ServerReply, sharedNow } from './protocol.ts'

/** The server process of the feed benchmark: the transports of the gateway on a log, and the servers for comparison. */

const log = await openLogStore()
const wake = createWake()
const feed = await openFeed({
  reader: log.store.read,
  parameters: servedParameters,
  wake,
  log: silentLog,
})
const services = {
  store: log.store,
  parameters: servedParameters,
  feed,
  mayLag: true,
  clock: systemClock,
} as Partial<Services> as Services
const transports = await startTransports(services)
const port = Number(new URL(transports.url).port)

const others = createServer()
const bare = new WebSocketServer({ noServer: true })
const each = new WebSocketServer({ noServer: true })
useServer(
  {
    schema,
    context: () => ({ services, requestId: 'bench', budget: createBudget(), share: fullShare() }),
  },
  each,
)
others.on('upgrade', (request, socket, head) => {
  const server = request.url === pathOf.bare ? bare : each
  server.handleUpgrade(request, socket, head, (webSocket) =>
    server.emit('connection', webSocket, request),
  )
})
await new Promise<void>((resolve) => others.listen(0, '127.0.0.1', resolve))
const barePort = (others.address() as AddressInfo).port

let outputs = 0
let seq = 0

process.on('message', (command: ServerCommand) => {
  void answer(command).then((reply) => process.send?.(reply))
})
process.send?.(await answer({ do: 'usage', collect: false }))

async function answer(command: ServerCommand): Promise<ServerReply> {
  if (command.do === 'end') process.exit(0)
  if (command.do === 'usage' && command.collect) for (let i = 0; i < 5; i++) globalThis.gc?.()
  const committedAt = command.do === 'commit' ? await commit(command.addresses, command.mode) : 0n
  const { user, system } = process.cpuUsage()
  return {
    usage: {
      cpu: user + system,
      rss: process.memoryUsage.rss(),
      reads: feed.tail.counts().rowReads,
      live: feed.hub.counts().live,
      others: bare.clients.size + each.clients.size,
    },
    committedAt: String(committedAt),
    milestoneIndex: log.slot(),
    port,
    barePort,
    cursor: log.cursorAt(seq),
  }
}

async function commit(addresses: readonly number[], mode: Mode): Promise<bigint> {
  const entries = addresses.map((address): LogEntry => {
    outputs++
    const byte = (outputs >> 15).toString(16).padStart(2, '0')
    const outputId = outputIdOf(byte, outputs & 0x7fff)
    return {
      address: benchKey(address),
      class: 'OWNED',
      roles: ['OWNER'],
      outputId,
      isSpent: false,
    }
  })
  await log.commit(entries)
  seq += entries.length
  const committedAt = sharedNow()
  if (mode === 'bare') sendReady(bare.clients)
  wake.notify(seq)
  return committedAt
}

/** Sends one prepared buffer of the size of a gateway message to all clients. */
function sendReady(clients: Iterable<WebSocket>): void {
  const ready = Buffer.from(`{"milestoneIndex":${log.slot()}}`.padEnd(readyBytes))
  for (const socket of clients) socket.send(ready, { binary: false })
}

const readyBytes = Number(process.env.READY_BYTES ?? 597)
