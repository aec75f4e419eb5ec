import type { IncomingMessage } from 'node:http'
import { maxBlockSize } from '../../protocol/block.ts'
import { requestCost } from '../clients/client-shares.ts'
import type { Client } from '../clients/clients.ts'
import type { LimitError, RateLimitExceeded } from '../errors/api-errors.ts'
import { bytesOfUnit } from '../graphql/execution/prices.ts'
import { type Occupancy, overloadRefusal } from '../limits.ts'

/** Refuses requests before their bodies are read. */

interface Head {
  readonly message: IncomingMessage
  readonly path: string
  /** The query string, without the question mark. */
  readonly query: string
}

/** Returns why a request is refused: the gateway is overloaded, or the budget of the client is used up. */
export function earlyRefusal(
  occupancy: Occupancy,
  client: Client,
  { message, path, query }: Head,
): LimitError | RateLimitExceeded | undefined {
  const overloaded = path === livePath ? undefined : overloadRefusal(occupancy, client)
  if (overloaded !== undefined || isProbe(path)) return overloaded
  return client.share.take(costToRead(message, query))
}

/** Answered even under overload, because a supervisor kills a process that does not respond here. */
const livePath = '/health/live'

/** Whether the path is a health check. Health checks are free: they often come from one address for many clients. */
export function isProbe(path: string): boolean {
  return path === livePath || path === '/health/ready' || path === '/health'
}

/** Cost of reading a request, charged before its content is known. */
function costToRead({ headers }: IncomingMessage, query: string): number {
  const length = headers['content-length']
  const bytes = length === undefined ? 0 : Number(length)
  // Most bodies without a length are blocks.
  const unknown = headers['transfer-encoding'] === undefined ? 0 : maxBlockSize
  return requestCost + Math.ceil((bytes + unknown + query.length) / bytesOfUnit)
}
