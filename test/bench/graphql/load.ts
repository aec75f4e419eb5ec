import { isDeepStrictEqual } from 'node:util'
import { type Line, openLine } from '../rest/load.ts'
import type { LargeLedger } from './data.ts'
import { gatewayPeer, type Kind, type Peer } from './peers.ts'
import { type Choice, choices } from './questions.ts'
import type { Server } from './servers.ts'

/** Sends requests for pages to servers over keep-alive connections, and measures their cost. */

/** A kind of request, for every server that supports it. */
export interface Case {
  readonly kind: Kind
  readonly choice: Choice
  readonly rows: number
  readonly connections: number
}

/** The measurement of one server in one round. */
export interface Measured {
  /** The processor time of the server per request, in microseconds. */
  readonly cpuUs: number
  readonly perSecond: number
  /** The latency of each response, in milliseconds. */
  readonly times: readonly number[]
  /** The processor time of the database server per request, in microseconds. */
  readonly databaseUs?: number
}

/** Sends requests to a server for `ms` milliseconds. */
export function load(
  { peer, server }: { readonly peer: Peer; readonly server: Server },
  { kind, choice, rows, connections }: Case,
  { ledger, ms }: { readonly ledger: LargeLedger; readonly ms: number },
): Promise<Measured> {
  const ask = (line: Line) => exchange(line, peer, kind, choices[choice](ledger, rows), ledger)
  return loadBy(server, ask, { connections, ms })
}

interface Span {
  readonly connections: number
  readonly ms: number
  /** The duration of requests before the measurement, because a server that was paused has cold caches. */
  readonly leadMs?: number
}

/** Sends requests by a function that sends one request and waits for its response. */
export async function loadBy(
  server: Server,
  ask: (line: Line) => Promise<unknown>,
  { connections, ms, leadMs = 0 }: Span,
): Promise<Measured> {
  const lines = await Promise.all(Array.from({ length: connections }, () => openLine(server.port)))
  const askFor = async (duration: number) => {
    const times: number[] = []
    const end = performance.now() + duration
    await Promise.all(
      lines.map(async (line) => {
        for (let now = performance.now(); now < end; ) {
          await ask(line)
          const after = performance.now()
          times.push(after - now)
          now = after
        }
      }),
    )
    return times
  }
  await askFor(leadMs)
  const spent = server.spent()
  const begun = performance.now()
  const times = await askFor(ms)
  const took = performance.now() - begun
  const cpuMs = server.spent() - spent
  for (const line of lines) line.end()
  return {
    cpuUs: (cpuMs * 1_000) / times.length,
    perSecond: (times.length * 1_000) / took,
    times,
  }
}

async function exchange(
  line: Line,
  { name, asks }: Peer,
  kind: Kind,
  question: ReturnType<(typeof choices)[Choice]>,
  ledger: LargeLedger,
): Promise<Buffer> {
  const request = asks[kind]?.ask(question, ledger)
  if (request === undefined) throw new Error(`${name} has no ${kind}`)
  if (request.body === undefined) return await line.get(request.path)
  const { status, body } = await line.post(request.path, request.body)
  if (status !== 200) throw new Error(`${name} responded with ${status}: ${body}`)
  return body
}

/** Requests the same pages from all servers, and throws if a response differs from that of the gateway. */
export async function compareResponses(
  servers: ReadonlyMap<Peer, Server>,
  cases: readonly Case[],
  ledger: LargeLedger,
): Promise<void> {
  for (const { kind, choice, rows } of cases) {
    for (let n = 0; n < 10; n++) {
      const question = choices[choice](ledger, rows)
      const answers = new Map<Peer, object>()
      for (const [peer, server] of servers) {
        if (peer.asks[kind] === undefined) continue
        const line = await openLine(server.port)
        const body = await exchange(line, peer, kind, question, ledger)
        line.end()
        answers.set(peer, peer.asks[kind].read(JSON.parse(body.toString()), question, ledger))
      }
      const expected = answers.get(gatewayPeer)
      for (const [peer, answer] of answers) {
        if (isDeepStrictEqual(answer, expected)) continue
        throw new Error(
          `the response of ${peer.name}:\n${JSON.stringify(answer).slice(0, 600)}\ndiffers from that of the gateway:\n${JSON.stringify(expected).slice(0, 600)}`,
        )
      }
    }
  }
}
