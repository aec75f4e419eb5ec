import { processorNs } from '../bench/cluster/processor.ts'
import { type OwnInit, ownClient } from './from-address.ts'

/** Measures the processor time of a request and the cost that its client is charged (`docs/decisions/037-shares-of-clients.md`). */

/** The measurements of a request. */
export interface MeasuredRequest {
  readonly status: number
  readonly text: string
  /** The cost that its client was charged, in units, including the request for the remaining share. */
  readonly cost: number
  /** The processor time on all threads of the gateway. */
  readonly processorMs: number
}

/** The gateway. It gets no other requests during a measurement. */
export interface MeteredGateway {
  readonly url: string
  readonly pid: number
  /** Returns a token of a new subject, with the scopes of the tokens in the requests. */
  tokenOf(subject: string): Promise<string>
}

/**
 * The maximum processor time of a unit of cost. A unit is 10 µs (`src/api/graphql/execution/prices.ts`); requests with a new document take up to
 * four times as long (`npm run bench -- cost`).
 */
export const maxMsPerUnit = 0.04

/** The additional processor time that a request may take, because a connection and a token have no price. */
export const maxUnpricedMs = 10

/** Describes the excess if a request took more processor time than its cost allows. */
export function excessOf({ cost, processorMs }: Pick<MeasuredRequest, 'cost' | 'processorMs'>) {
  const allowedMs = maxUnpricedMs + cost * maxMsPerUnit
  if (processorMs <= allowedMs) return undefined
  const [took, allowed] = [processorMs, allowedMs].map((ms) => ms.toFixed(1))
  return `${took} ms of the processor, and its cost of ${Math.round(cost)} allows ${allowed}`
}

/** Sends and measures requests. */
export type WorkMeter = ReturnType<typeof createWorkMeter>

/** Creates a meter that sends each request as a new client, whose share of cost is full. */
export function createWorkMeter({ url, pid, tokenOf }: MeteredGateway) {
  let clients = 0

  /** Sends a request, and then requests the remaining share of its client. */
  async function send(target: string, init: OwnInit): Promise<MeasuredRequest> {
    const client = ++clients
    const own = ownClient(`127.${2 + (client >> 16)}.${(client >> 8) & 255}.${client & 255}`)
    const { authorization, ...others } = init.headers ?? {}
    const token = authorization && { authorization: await tokenOf(`fuzz ${client}`) }
    const headers = { ...others, ...token }
    const [before, start] = [processorNs(pid), performance.now()]
    const { status, text } = await own.ask(url + target, { ...init, headers })
    const processorMs = (processorNs(pid) - before) / 1e6
    const left = await own.ask(`${url}/graphql?query={__typename}`, { headers: { ...token } })
    own.close()
    return { status, text, processorMs, cost: spentOf(left.headers, performance.now() - start) }
  }

  return { send }
}

/** Returns the cost that a client has spent of its share, which refills in ten seconds; `Infinity` if nothing is left. */
function spentOf(headers: Readonly<Record<string, unknown>>, elapsedMs: number): number {
  const [whole, rest] = [headers['ratelimit-policy'], headers.ratelimit].map((header) =>
    Number(/;[qr]=(\d+)/.exec(String(header))?.[1]),
  )
  if (whole === undefined || rest === undefined || !(whole >= rest)) {
    throw new Error('a response has no header with the remaining share')
  }
  return rest === 0 ? Infinity : whole - rest + (whole / 10_000) * elapsedMs
}
