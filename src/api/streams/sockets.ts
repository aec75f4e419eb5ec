import type { Server } from 'node:http'
import { BlockList } from 'node:net'
import type { Log } from '../../lib/log.ts'
import { createOutage } from '../../lib/outage.ts'
import { lookForConnections, turnsAwaited } from '../../lib/turns.ts'
import { clientOf, isProxy, type TrustedProxies } from '../clients/client-address.ts'
import { onEachConnection } from '../clients/connections.ts'
import { maxTurnsAwaited, type TransportLimits } from '../limits.ts'

/**
 * Limits the open connections of any kind, with or without a running request. The total stays below the limit of open files of
 * the process, because the database needs some files, and each address may have only a part of the connections.
 */

/** The limits on the connections of a server. */
export interface SocketLimits {
  readonly limits: Pick<TransportLimits, 'client'>
  readonly proxies: TrustedProxies
  /** Limit of open files of the process; `undefined` if it is unknown. */
  readonly openFiles: number | undefined
}

/** Files reserved for the database, the log and the runtime, but at most half of the limit. A gateway starts with about 35 open files. */
const keptFiles = 256

/**
 * Ratio of a client's connections of any kind to its WebSockets and event streams. Above the limit of the latter a client gets an
 * error response; this limit is for connections that have sent nothing, so no response is possible.
 */
export const socketsPerConnection = 2

/** Limits the connections of a server; connections above the limit are cut. */
export function limitSockets(
  server: Server,
  { limits, proxies, openFiles }: SocketLimits,
  log: Pick<Log, 'info' | 'warn' | 'debug'>,
): void {
  const ofClient = limits.client.connections * socketsPerConnection
  const outage = createOutage(log, { began: 'sockets-full', over: 'sockets-free' })
  const counts = new Map<string, number>()
  let total = 0
  let limit = Number.POSITIVE_INFINITY

  if (openFiles !== undefined) {
    limit = openFiles - Math.min(keptFiles, Math.floor(openFiles / 2))
    server.maxConnections = limit
    server.on('drop', () => outage.failed(`${limit} connections are open, and more are cut`))
  }

  /** Counts a connection of an address, or of a proxy without an address. */
  function count(address: string | undefined, by: 1 | -1): void {
    total += by
    if (address === undefined) return
    const open = (counts.get(address) ?? 0) + by
    if (open > 0) counts.set(address, open)
    else counts.delete(address)
  }

  /** Decides before Node creates a socket for the connection, which is most of the cost of a connection. */
  function isCut(remoteAddress: string): boolean {
    lookForConnections()
    // A proxy serves many clients, whose requests are counted individually.
    if (isProxy(remoteAddress, proxies)) return false
    const address = clientOf(remoteAddress, {}, proxies)
    const open = counts.get(address) ?? 0
    // No client has more connections than are free, so that clients with many leave room for others, unless one may have them all.
    const mayHave = ofClient < limit ? Math.min(ofClient, limit - total) : ofClient
    if (open < mayHave && turnsAwaited(address) <= maxTurnsAwaited) return false
    log.debug('client-sockets-full', { address, open })
    return true
  }

  Object.assign(server, { blockList: Object.assign(new BlockList(), { check: isCut }) })
  onEachConnection(server, (socket) => {
    outage.recovered()
    const { remoteAddress } = socket
    const address = isProxy(remoteAddress, proxies)
      ? undefined
      : clientOf(remoteAddress, {}, proxies)
    count(address, 1)
    socket.on('close', () => count(address, -1))
  })
}

/** Returns the limit of open files of this process; `undefined` if it is unknown. */
export function openFileLimit(): number | undefined {
  // The network part of the report looks up host names, which takes seconds when the name server is unreachable.
  Object.assign(process.report, { excludeNetwork: true })
  const { userLimits }: { userLimits?: { open_files?: { soft?: unknown } } } =
    process.report.getReport()
  const soft = Number(userLimits?.open_files?.soft)
  return Number.isInteger(soft) && soft > 0 ? soft : undefined
}
