import { homedir, tmpdir } from 'node:os'
import { createRandom, type Random } from '../support/random.ts'
import { type OwnInit, ownClient } from './from-address.ts'
import { excessOf, type WorkMeter } from './work.ts'

/** Sends random requests, which are the same for the same seed, and checks the responses. */

/** One random request. */
export interface FuzzRequest {
  /** The path and the query string. */
  readonly target: string
  readonly init: OwnInit
  /** Returns an equivalent request whose text differs, by the number of the attempt. */
  readonly again?: (attempt: number) => FuzzRequest
}

/** The gateway, and the requests. */
export interface FuzzOptions {
  readonly url: string
  readonly seed: number
  readonly requests: number
  readonly make: (random: Random) => FuzzRequest
  /** Measures the cost of each request, one after the other. Without it, nothing is measured. */
  readonly meter?: WorkMeter | undefined
}

/** The result of the requests. */
export interface FuzzReport {
  /** The number of responses by error code or status. */
  readonly answers: ReadonlyMap<string, number>
  readonly faults: readonly string[]
  readonly slowestMs: number
  readonly slowest: string
}

const concurrency = 8

/** Sends the requests: without a meter eight at a time, with a meter one at a time. */
export async function fuzz({ url, seed, requests, make, meter }: FuzzOptions): Promise<FuzzReport> {
  const answers = new Map<string, number>()
  const faults: string[] = []
  let [slowestMs, slowest] = [0, '']
  let next = 0
  const client = ownClient('127.0.0.1')
  const send = async ({ target, init }: FuzzRequest) => client.ask(url + target, init)

  async function sendOne(i: number): Promise<void> {
    const request = make(createRandom(seed * 1_000_003 + i * 7_919))
    const shown = `request ${i} of seed ${seed}: ${describe(request)}`
    const start = performance.now()
    try {
      const { status, text, excess }: CheckedResponse = await (meter
        ? measure(meter, request)
        : send(request))
      for (const answer of codesOf(status, text)) {
        answers.set(answer, (answers.get(answer) ?? 0) + 1)
      }
      const fault = faultOf(status, text) ?? excess
      if (fault !== undefined) faults.push(`${fault}: ${shown}: ${text.slice(0, 500)}`)
    } catch (error) {
      faults.push(`${Object(error).cause?.message ?? error}: ${shown}`)
    }
    const elapsedMs = performance.now() - start
    if (elapsedMs > slowestMs) [slowestMs, slowest] = [elapsedMs, shown]
  }

  async function sendInTurn(): Promise<void> {
    while (next < requests) await sendOne(next++)
  }

  await Promise.all(Array.from({ length: meter ? 1 : concurrency }, sendInTurn))
  client.close()
  return { answers, faults, slowestMs, slowest }
}

interface CheckedResponse {
  readonly status: number
  readonly text: string
  /** Describes how its processor time exceeds its cost. */
  readonly excess?: string | undefined
}

/**
 * Measures a request up to five times, until one attempt does not exceed its cost: code that has not run before takes many times as long,
 * and the gateway has other work.
 */
async function measure(meter: WorkMeter, request: FuzzRequest): Promise<CheckedResponse> {
  for (let attempt = 1; ; attempt++) {
    const { target, init } = attempt === 1 ? request : (request.again?.(attempt) ?? request)
    const measurement = await meter.send(target, init)
    const excess = excessOf(measurement)
    if (excess === undefined || attempt === maxAttempts) return { ...measurement, excess }
  }
}

const maxAttempts = 5

function describe({ target, init }: FuzzRequest): string {
  const { method = 'GET', body } = init
  const { 'content-type': type = '' }: Record<string, string> = Object(init.headers)
  return `${method} ${target} ${type} ${typeof body === 'string' ? body : ''}`.slice(0, 2_000)
}

function codesOf(status: number, text: string): readonly string[] {
  const codes = [...text.matchAll(/"code":"([A-Z][A-Z_]+)"/g)].map(([, code = '']) => code)
  return codes.length > 0 ? [...new Set(codes)] : [String(status)]
}

/** Returns the fault of a response: an internal error, or a path, a stack trace or a statement in its text. */
export function faultOf(status: number, text: string): string | undefined {
  if (status === 500 || text.includes('"INTERNAL"')) return 'a fault of its own'
  if (paths.some((path) => text.includes(path))) return 'a path of the machine'
  if (/\n\s+at \S+ \(|\bat file:/.test(text)) return 'a stack'
  return statement.test(text) ? 'a statement' : undefined
}

const paths = [process.cwd(), homedir(), `${tmpdir()}/`, 'node_modules', '/usr/', 'file:/'].filter(
  (path) => path.length > 2,
)

/** Matches SQL as the store writes it, and error names of databases. */
const statement =
  /\bSELECT [\s\S]{1,300}? FROM |\bINSERT INTO |\bUPDATE \w+ SET |\bDELETE FROM |SQLITE_|Prisma/
