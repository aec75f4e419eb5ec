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
 * What the door costs: pages of the explorer's list against a bare handler with the same SQL, and a page deep in the
 * past against the newest. `BENCH_ROWS` makes the log smaller than twelve million rows.
 */

const rows = Number(process.env.BENCH_ROWS ?? 12_100_000)
/** The address with the most rows has five of six of them. */
const depth = Math.min(10_000_000, Math.floor(rows / 6) * 5 - 1_000)
/** Many short ones, for the machine may be busy with other things for a while. */
const rounds = Number(process.env.BENCH_ROUNDS ?? 60)
const roundMs = 300
const lineCount = 8

/** Starts the server in a process of its own, and asks it from this one. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-bench-'))
  const compiled = compile('bench-rest', ['test/bench/rest/server.ts'])
  const server = fork(
    new URL('test/bench/rest/server.js', compiled),
    [join(folder, 'bench.db'), String(rows), String(depth)],
    { execArgv: [] },
  )
  try {
    console.log(`A log of ${rows} rows is made …\n`)
    const [report]: ServerReport[] = await once(server, 'message')
    if (report === undefined) throw new Error('the server said nothing')
    await againstBare(report)
    await againstFirst(report)
  } finally {
    server.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}

/** Random places of random addresses, in turns. */
async function againstBare({ port, barePort, questions }: ServerReport): Promise<void> {
  const ours = await openLines(port)
  const bare = await openLines(barePort)
  await comparePages(ours[0], bare[0], questions.slice(0, 200))
  const measured = { ours: [] as number[], bare: [] as number[] }
  // They go on from round to round: what was asked a moment ago is another thing than a random place.
  const ourPaths = inTurn(questions.map((question) => question.ours))
  const barePaths = inTurn(questions.map((question) => question.bare))
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    const our = await throughput(ours, ourPaths, roundMs)
    const their = await throughput(bare, barePaths, roundMs)
    if (round === 0) continue
    measured.ours.push(our)
    measured.bare.push(their)
  }
  const ratio = median(measured.ours.map((our, i) => our / (measured.bare[i] ?? Number.NaN)))
  printTable([
    ['page of 100', 'requests a second'],
    ['bare node:http', median(measured.bare).toFixed(0)],
    ['ours', median(measured.ours).toFixed(0)],
  ])
  console.log(`\nratio ${ratio.toFixed(2)} (wanted: at least 0.6)\n`)
  for (const line of [...ours, ...bare]) line.end()
}

/** Pages again and again, in turns, spelled anew each time, for what is asked again is kept; and one that is. A client comes to the deep one by the cursor of the page before it. */
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
    [`behind ${depth} rows, by the cursor of the page before`, ...(walked ?? [])],
    ['as deep, by a cursor made by hand', ...(named ?? [])],
    ['the newest, asked before', ...(kept ?? [])],
  ])
  console.log(
    '\nwanted: a ratio of at most 1.15, and of a page that was asked before at most 0.6\n',
  )
  line.end()
}

/** The same target in other bytes: the binary digits of a number say which characters of the address are written as their codes. */
function spelled(path: string, number: number): string {
  return path.replace(/(?<=by-address\/)[^?]+/, (address) =>
    Array.from(address, (sign, place) =>
      (number >> place) & 1 && place < 31 ? `%${sign.charCodeAt(0).toString(16)}` : sign,
    ).join(''),
  )
}

/** In microseconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) * 1_000
}

/** Both must answer the same, or the comparison says nothing. */
async function comparePages(
  ours: Line | undefined,
  bare: Line | undefined,
  questions: readonly Question[],
): Promise<void> {
  for (const question of questions) {
    const [our, their] = await Promise.all([ours?.get(question.ours), bare?.get(question.bare)])
    const items = (body: Buffer | undefined) => JSON.stringify(JSON.parse(String(body)).items)
    if (items(our) !== items(their)) throw new Error(`they differ: ${question.ours}`)
  }
}

function openLines(port: number): Promise<Line[]> {
  return Promise.all(Array.from({ length: lineCount }, () => openLine(port)))
}

function* inTurn(paths: readonly string[]): Generator<string, string> {
  for (;;) yield* paths
}
