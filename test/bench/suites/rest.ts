import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compile } from '../../support/compiled.ts'
import { median, printTable } from '../measure.ts'
import { type Line, openLine, throughput } from '../rest/load.ts'
import type { Question, ServerReport } from '../rest/protocol.ts'

/**
 * Measures the cost of REST: pages of the explorer's list compared with a bare handler with the same SQL, and a deep page compared
 * with the newest one. `BENCH_ROWS` sets the rows of the log, about twelve million by default.
 */

const rows = Number(process.env.BENCH_ROWS ?? 12_100_000)
/** The position of the deep page in the rows of the busy address, which has five of six rows. */
const depth = Math.min(10_000_000, Math.floor(rows / 6) * 5 - 1_000)
/** Many short rounds, because the machine may temporarily be busy with other work. */
const rounds = Number(process.env.BENCH_ROUNDS ?? 60)
const roundMs = 300
const lineCount = 8

/** Starts the server in another process, and sends requests from this one. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-bench-'))
  const compiled = compile('bench-rest', ['test/bench/rest/server.ts'])
  const server = fork(
    new URL('test/bench/rest/server.js', compiled),
    [join(folder, 'bench.db'), String(rows), String(depth)],
    { execArgv: [] },
  )
  try {
    console.log(`Creating a log of ${rows} rows …\n`)
    const [report]: ServerReport[] = await once(server, 'message')
    if (report === undefined) throw new Error('the server sent no report')
    await againstBare(report)
    await againstFirst(report)
  } finally {
    server.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}

/** Measures pages at random places of random addresses on both servers, in alternation. */
async function againstBare({ port, barePort, questions }: ServerReport): Promise<void> {
  const gateway = await openLines(port)
  const bare = await openLines(barePort)
  await comparePages(gateway[0], bare[0], questions.slice(0, 200))
  const measured = { gateway: [] as number[], bare: [] as number[] }
  // The paths continue from round to round, because repeating recent requests would not measure random places.
  const gatewayPaths = inTurn(questions.map((question) => question.gateway))
  const barePaths = inTurn(questions.map((question) => question.bare))
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    const ofGateway = await throughput(gateway, gatewayPaths, roundMs)
    const ofBare = await throughput(bare, barePaths, roundMs)
    if (round === 0) continue
    measured.gateway.push(ofGateway)
    measured.bare.push(ofBare)
  }
  const ratio = median(measured.gateway.map((rate, i) => rate / (measured.bare[i] ?? Number.NaN)))
  printTable([
    ['page of 100', 'requests per second'],
    ['bare node:http', median(measured.bare).toFixed(0)],
    ['gateway', median(measured.gateway).toFixed(0)],
  ])
  console.log(`\nratio ${ratio.toFixed(2)} (target: at least 0.6)\n`)
  for (const line of [...gateway, ...bare]) line.end()
}

/**
 * Measures single pages in alternation. Each request has a different spelling, because the gateway caches responses by path; the last
 * page always has the same. A client reaches the deep page by the cursor of the page before it.
 */
async function againstFirst({ port, first, before, foreign }: ServerReport): Promise<void> {
  const line = await openLine(port)
  const { cursor } = JSON.parse(String(await line.get(before)))
  const deep = before.replace(/(?<=cursor=).*/, cursor)
  const pages = [first, deep, foreign].map((path) => (time: number) => spelled(path, time))
  pages.push(() => first)
  const measured = pages.map((): number[] => [])
  for (let time = 0; time < rounds * 100; time++) {
    for (const [index, pathAt] of pages.entries()) {
      const path = pathAt(time)
      const microseconds = await timed(() => line.get(path))
      if (time >= rounds * 10) measured[index]?.push(microseconds)
    }
  }
  const [newest = 0, ...others] = measured.map(median)
  const [walked, named, kept] = others.map((time) => [time.toFixed(0), (time / newest).toFixed(2)])
  printTable([
    ['one page of 100, warm', 'µs', 'ratio'],
    ['the newest', newest.toFixed(0), '1'],
    [`after ${depth} rows, by the cursor of the page before`, ...(walked ?? [])],
    ['equally deep, by a constructed cursor', ...(named ?? [])],
    ['the newest, cached', ...(kept ?? [])],
  ])
  console.log('\ntarget: a ratio of at most 1.15, and at most 0.6 for a cached page\n')
  line.end()
}

/** Another spelling of the same path: percent-encodes the characters of the address at the positions of the one bits of a number. */
function spelled(path: string, number: number): string {
  return path.replace(/(?<=by-address\/)[^?]+/, (address) =>
    Array.from(address, (sign, place) =>
      (number >> place) & 1 && place < 31 ? `%${sign.charCodeAt(0).toString(16)}` : sign,
    ).join(''),
  )
}

/** The time of `work` in microseconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) * 1_000
}

/** Throws unless both servers return the same items, because otherwise the comparison is meaningless. */
async function comparePages(
  gateway: Line | undefined,
  bare: Line | undefined,
  questions: readonly Question[],
): Promise<void> {
  for (const question of questions) {
    const [own, other] = await Promise.all([
      gateway?.get(question.gateway),
      bare?.get(question.bare),
    ])
    const items = (body: Buffer | undefined) => JSON.stringify(JSON.parse(String(body)).items)
    if (items(own) !== items(other)) throw new Error(`the responses differ: ${question.gateway}`)
  }
}

function openLines(port: number): Promise<Line[]> {
  return Promise.all(Array.from({ length: lineCount }, () => openLine(port)))
}

function* inTurn(paths: readonly string[]): Generator<string, string> {
  for (;;) yield* paths
}
