import { isDeepStrictEqual } from 'node:util'
import { type Line, openLine } from '../rest/load.ts'
import type { LargeLedger } from './data.ts'
import { type Kind, ours, type Peer } from './peers.ts'
import { type Choice, choices } from './questions.ts'
import type { Server } from './servers.ts'

/** Asks servers for pages, over connections that stay open, and notes what that costs them. */

/** What is asked, of every server that can answer it. */
export interface Case {
  readonly kind: Kind
  readonly choice: Choice
  readonly rows: number
  readonly connections: number
}

/** Of one server in one round. */
export interface Measured {
  /** Processor time of the server a request, in microseconds. */
  readonly cpuUs: number
  readonly perSecond: number
  /** Of each answer, in milliseconds. */
  readonly times: readonly number[]
}

/** Asks a server for so long. */
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
  /** How long it is asked before that, uncounted: one that has waited for its turn begins with cold caches. */
  readonly leadMs?: number
}

/** The same by a function that asks one question and waits for its answer. */
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
  const asked = asks[kind]?.ask(question, ledger)
  if (asked === undefined) throw new Error(`${name} has no ${kind}`)
  if (asked.body === undefined) return await line.get(asked.path)
  const { status, body } = await line.post(asked.path, asked.body)
  if (status !== 200) throw new Error(`${name} answered ${status}: ${body}`)
  return body
}

/** Asks all for the same pages; fails where a server answers something else than the gateway. */
export async function compareAnswers(
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
      const expected = answers.get(ours)
      for (const [peer, answer] of answers) {
        if (isDeepStrictEqual(answer, expected)) continue
        throw new Error(
          `${peer.name} has another answer:\n${JSON.stringify(answer).slice(0, 600)}\nthan ours:\n${JSON.stringify(expected).slice(0, 600)}`,
        )
      }
    }
  }
}
