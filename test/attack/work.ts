import { processorNs } from '../bench/cluster/processor.ts'
import { type OwnInit, ownClient } from './from-address.ts'

/** Measures what a request takes of the processor, and what its client pays for it (`docs/decisions/037-shares-of-clients.md`). */

/** A request that was answered. */
export interface Worked {
  readonly status: number
  readonly text: string
  /** What its client has paid, in units of cost, together with asking what is left. */
  readonly cost: number
  /** Of the processor, on all threads of the gateway. */
  readonly processorMs: number
}

/** The gateway, which does nothing else meanwhile. */
export interface MeteredGateway {
  readonly url: string
  readonly pid: number
  /** A token of another holder each time, with the scopes of those in the requests. */
  tokenOf(subject: string): Promise<string>
}

/** What a unit of cost may take: 10 µs (`src/api/graphql/prices.ts`), and four times as many where documents differ (`npm run bench -- cost`). */
export const maxMsPerUnit = 0.04

/** What a request may take besides: a connection and a token have no price. */
export const maxUnpaidMs = 10

/** Says by how much a request took more than it paid for; `undefined` where it did not. */
export function excessOf({ cost, processorMs }: Pick<Worked, 'cost' | 'processorMs'>) {
  const allowedMs = maxUnpaidMs + cost * maxMsPerUnit
  if (processorMs <= allowedMs) return undefined
  const [took, allowed] = [processorMs, allowedMs].map((ms) => ms.toFixed(1))
  return `${took} ms of the processor, and its cost of ${Math.round(cost)} allows ${allowed}`
}

/** Sends and measures requests. */
export type WorkMeter = ReturnType<typeof createWorkMeter>

/** Sends requests, each as a client of its own, whose share of cost is full. */
export function createWorkMeter({ url, pid, tokenOf }: MeteredGateway) {
  let clients = 0

  /** Sends one, and then asks what its client has left. */
  async function send(target: string, init: OwnInit): Promise<Worked> {
    const client = ++clients
    const own = ownClient(`127.${2 + (client >> 16)}.${(client >> 8) & 255}.${client & 255}`)
    const { authorization, ...others } = init.headers ?? {}
    const token = authorization && { authorization: await tokenOf(`fuzz ${client}`) }
    const headers = { ...others, ...token }
    const [before, begun] = [processorNs(pid), performance.now()]
    const { status, text } = await own.ask(url + target, { ...init, headers })
    const processorMs = (processorNs(pid) - before) / 1e6
    const left = await own.ask(`${url}/graphql?query={__typename}`, { headers: { ...token } })
    own.close()
    return { status, text, processorMs, cost: spentOf(left.headers, performance.now() - begun) }
  }

  return { send }
}

/** What a client has spent of its whole share, which fills again in ten seconds; all of it, and an unknown amount more, where nothing is left. */
function spentOf(headers: Readonly<Record<string, unknown>>, elapsedMs: number): number {
  const [whole, rest] = [headers['ratelimit-policy'], headers.ratelimit].map((header) =>
    Number(/;[qr]=(\d+)/.exec(String(header))?.[1]),
  )
  if (whole === undefined || rest === undefined || !(whole >= rest)) {
    throw new Error('an answer does not say what its client has left')
  }
  return rest === 0 ? Infinity : whole - rest + (whole / 10_000) * elapsedMs
}
