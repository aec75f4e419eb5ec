import type { Server } from 'node:http'
import { BlockList, type Socket } from 'node:net'
import type { Log } from '../lib/log.ts'
import { createOutage } from '../lib/outage.ts'
import { lookForConnections, turnsAwaited } from '../lib/turns.ts'
import { clientOf, isProxy, type TrustedProxies } from './client-address.ts'
import { maxTurnsAwaited, type TransportLimits } from './limits.ts'

/**
 * How many connections of any kind are open, whether they carry a request or not: fewer than the process may have files, for
 * the database needs some, and of one address a part.
 */

/** What limits the connections of a server. */
export interface SocketLimits {
  readonly limits: Pick<TransportLimits, 'client'>
  readonly proxies: TrustedProxies
  /** How many files the process may have open; `undefined` where that is not known. */
  readonly openFiles: number | undefined
}

/** Files that are kept free, for the database, the log and what the runtime opens; of few files half: a gateway begins with some 35. */
const keptFiles = 256

/**
 * A client's connections of any kind may be twice as many as those that last: what lasts is refused by name, and this is for
 * what cannot be answered, as it has sent nothing.
 */
export const socketsPerConnection = 2

/** Limits the connections of a server; one too many is cut. */
export function limitSockets(
  server: Server,
  { limits, proxies, openFiles }: SocketLimits,
  log: Pick<Log, 'info' | 'warn' | 'debug'>,
): void {
  const ofClient = limits.client.connections * socketsPerConnection
  const outage = createOutage(log, { began: 'sockets-full', over: 'sockets-free' })
  const counts = new Map<string, number>()
  const seen = new WeakSet<Socket>()

  if (openFiles !== undefined) {
    const limit = openFiles - Math.min(keptFiles, Math.floor(openFiles / 2))
    server.maxConnections = limit
    server.on('drop', () => outage.failed(`${limit} are open, and more are cut`))
  }

  function count(address: string, by: 1 | -1): void {
    const open = (counts.get(address) ?? 0) + by
    if (open > 0) counts.set(address, open)
    else counts.delete(address)
  }

  /** Asked before anything is made of a connection, which is most of what it costs to have one. */
  function isCut(remoteAddress: string): boolean {
    lookForConnections()
    // Behind it are many clients, whose requests are counted each by itself.
    if (isProxy(remoteAddress, proxies)) return false
    const address = clientOf(remoteAddress, {}, proxies)
    const open = counts.get(address) ?? 0
    if (open < ofClient && turnsAwaited(address) <= maxTurnsAwaited) return false
    log.debug('client-sockets-full', { address, open })
    return true
  }

  Object.assign(server, { blockList: Object.assign(new BlockList(), { check: isCut }) })
  server.on('connection', (socket: Socket) => {
    // The server is given some connections twice.
    if (seen.has(socket)) return
    seen.add(socket)
    outage.recovered()
    if (isProxy(socket.remoteAddress, proxies)) return
    const address = clientOf(socket.remoteAddress, {}, proxies)
    count(address, 1)
    socket.once('close', () => count(address, -1))
  })
}

/** How many files this process may have open. */
export function openFileLimit(): number | undefined {
  // Looking up the names of the machine's networks takes seconds where a name server is away.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits }: { userLimits?: { open_files?: { soft?: unknown } } } =
    process.report.getReport()
  const soft = Number(userLimits?.open_files?.soft)
  return Number.isInteger(soft) && soft > 0 ? soft : undefined
}
