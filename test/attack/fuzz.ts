import { homedir, tmpdir } from 'node:os'
import { createRandom, type Random } from '../support/random.ts'
import { type OwnInit, ownClient } from './from-address.ts'
import { excessOf, type WorkMeter } from './work.ts'

/** Sends random requests, the same for the same seed, and judges every answer. */

/** One random request. */
export interface FuzzRequest {
  /** The path and the query. */
  readonly target: string
  readonly init: OwnInit
  /** Asks for the same with a text that was not sent before, by the number of times. */
  readonly again?: (times: number) => FuzzRequest
}

/** What is sent, and how often. */
export interface FuzzOptions {
  readonly url: string
  readonly seed: number
  readonly requests: number
  readonly make: (random: Random) => FuzzRequest
  /** Measures what each takes, one after the other; by default nothing is measured. */
  readonly meter?: WorkMeter | undefined
}

/** What came of it. */
export interface FuzzReport {
  /** How often each status or code was answered. */
  readonly answers: ReadonlyMap<string, number>
  readonly faults: readonly string[]
  readonly slowestMs: number
  readonly slowest: string
}

const atOnce = 8

/** Sends them, a few at a time. */
export async function fuzz({ url, seed, requests, make, meter }: FuzzOptions): Promise<FuzzReport> {
  const answers = new Map<string, number>()
  const faults: string[] = []
  let [slowestMs, slowest] = [0, '']
  let next = 0
  const client = ownClient('127.0.0.1')
  const send = async ({ target, init }: FuzzRequest) => client.ask(url + target, init)

  async function sendOne(i: number): Promise<void> {
    const request = make(createRandom(seed * 1_000_003 + i * 7_919))
    const shown = `request ${i} of seed ${seed}: ${shownAs(request)}`
    const begun = performance.now()
    try {
      const { status, text, excess }: Judged = await (meter
        ? measured(meter, request)
        : send(request))
      for (const answer of codesOf(status, text)) {
        answers.set(answer, (answers.get(answer) ?? 0) + 1)
      }
      const fault = faultOf(status, text) ?? excess
      if (fault !== undefined) faults.push(`${fault}: ${shown}: ${text.slice(0, 500)}`)
    } catch (error) {
      faults.push(`${Object(error).cause?.message ?? error}: ${shown}`)
    }
    const took = performance.now() - begun
    if (took > slowestMs) [slowestMs, slowest] = [took, shown]
  }

  async function sendInTurn(): Promise<void> {
    while (next < requests) await sendOne(next++)
  }

  await Promise.all(Array.from({ length: meter ? 1 : atOnce }, sendInTurn))
  client.close()
  return { answers, faults, slowestMs, slowest }
}

interface Judged {
  readonly status: number
  readonly text: string
  /** How it took more than it paid for. */
  readonly excess?: string | undefined
}

/** What has never run before takes many times as long, and the gateway has work of its own: the best of some times counts. */
async function measured(meter: WorkMeter, request: FuzzRequest): Promise<Judged> {
  for (let times = 1; ; times++) {
    const { target, init } = times === 1 ? request : (request.again?.(times) ?? request)
    const worked = await meter.send(target, init)
    const excess = excessOf(worked)
    if (excess === undefined || times === maxTimes) return { ...worked, excess }
  }
}

const maxTimes = 5

function shownAs({ target, init }: FuzzRequest): string {
  const { method = 'GET', body } = init
  const { 'content-type': type = '' }: Record<string, string> = Object(init.headers)
  return `${method} ${target} ${type} ${typeof body === 'string' ? body : ''}`.slice(0, 2_000)
}

function codesOf(status: number, text: string): readonly string[] {
  const codes = [...text.matchAll(/"code":"([A-Z][A-Z_]+)"/g)].map(([, code = '']) => code)
  return codes.length > 0 ? [...new Set(codes)] : [String(status)]
}

/** What an answer must not have: a fault of the gateway, a path of the machine, a stack, a statement. */
export function faultOf(status: number, text: string): string | undefined {
  if (status === 500 || text.includes('"INTERNAL"')) return 'a fault of its own'
  if (places.some((place) => text.includes(place))) return 'a path of the machine'
  if (/\n\s+at \S+ \(|\bat file:/.test(text)) return 'a stack'
  return statement.test(text) ? 'a statement' : undefined
}

const places = [process.cwd(), homedir(), `${tmpdir()}/`, 'node_modules', '/usr/', 'file:/'].filter(
  (place) => place.length > 2,
)

/** As SQL is written in the store, and as databases name their errors. */
const statement =
  /\bSELECT [\s\S]{1,300}? FROM |\bINSERT INTO |\bUPDATE \w+ SET |\bDELETE FROM |SQLITE_|Prisma/
