import type { IncomingMessage } from 'node:http'
import type { LimitError, RateLimitExceeded } from './api-errors.ts'
import { requestCost } from './client-shares.ts'
import type { Client } from './clients.ts'
import { bytesOfUnit } from './graphql/prices.ts'
import { type Occupancy, overloadRefusal } from './limits.ts'

/** What refuses a request before anything but its head is read. */

interface Head {
  readonly message: IncomingMessage
  readonly path: string
  /** Without the question mark. */
  readonly query: string
}

/** Why nothing of a request is done: the gateway is overloaded, or the client has nothing left. */
export function earlyRefusal(
  occupancy: Occupancy,
  client: Client,
  { message, path, query }: Head,
): LimitError | RateLimitExceeded | undefined {
  const overloaded = path === livePath ? undefined : overloadRefusal(occupancy, client)
  if (overloaded !== undefined || isProbe(path)) return overloaded
  return client.share.take(costToRead(message, query))
}

/** Answered whatever else is: what asks there kills a process that does not answer. */
const livePath = '/health/live'

/** What asks whether the process and the gateway live, often from one address for many clients: it costs nothing. */
export function isProbe(path: string): boolean {
  return path === livePath || path === '/health/ready' || path === '/health'
}

/** What a request costs before it is known what it asks for. */
function costToRead({ headers }: IncomingMessage, query: string): number {
  const length = headers['content-length']
  const bytes = length === undefined ? 0 : Number(length)
  const unknown = headers['transfer-encoding'] === undefined ? 0 : unknownBytes
  return requestCost + Math.ceil((bytes + unknown + query.length) / bytesOfUnit)
}

/** As many as a body without a length is taken for: those of a block. */
const unknownBytes = 32_768
