import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { buildSchema } from 'graphql'
import { defaultClientLimits, defaultLoopDelayMs } from '../../src/api/limits.ts'
import { printTable } from '../bench/measure.ts'
import { restSeconds } from '../bench/suites/memory.ts'
import type { Random } from '../support/random.ts'
import { restJson } from '../support/rest.ts'
import { attacks } from './attacks.ts'
import { startControl } from './control.ts'
import { fuzz } from './fuzz.ts'
import { graphqlRequest } from './fuzz-graphql.ts'
import { type ApiDocument, restRequest } from './fuzz-rest.ts'
import { type AttackedGateway, fillLedger, startAttackedGateway } from './gateway.ts'
import { knownValues } from './known-values.ts'
import { failuresOf, type Measured, measure, startOtherClients } from './measure.ts'
import { createWorkMeter } from './work.ts'

/**
 * `npm run attack [-- PART OF A NAME …] [--seconds N]` runs all attacks, or those whose names contain one of the parts, for N seconds
 * each (default 8), with `--control` on a bare server instead of the gateway (`control.ts`). `npm run attack -- fuzz-rest N [SEED]` and `fuzz-graphql N [SEED]` send N random requests. The last line states
 * whether the run passed.
 */

/** The limits of each client on all networks except the one for development. */
const clientLimits = {
  CLIENT_COST: String(defaultClientLimits.costPerSecond),
  CLIENT_CONNECTIONS: String(defaultClientLimits.connections),
  CLIENT_SUBSCRIPTIONS: String(defaultClientLimits.subscriptions),
  MAX_LOOP_DELAY: String(defaultLoopDelayMs),
}

/**
 * The share of a client for random requests. It is so small that little of it refills before the remaining share is requested, and so
 * large that only the most expensive requests use all of it.
 */
const costPerSecond = '3000'

const help = `npm run attack [-- PART OF A NAME …] [--seconds N] [--control]
npm run attack -- fuzz-rest|fuzz-graphql N [SEED]

Runs each attack for N seconds (default 8), with --control on a bare server that refuses all requests of the attacker. A run of all
attacks ends with ${restSeconds} seconds of rest, and prints the memory after them. The attacks: ${attacks.map(({ name }) => name).join('; ')}`

const isControl = process.argv.includes('--control')
const words = process.argv.slice(2).filter((word) => word !== '--control')
if (words.includes('--help')) {
  console.log(help)
  process.exit(0)
}
const at = words.indexOf('--seconds')
const seconds = at === -1 ? 8 : Number(words[at + 1])
const parts = at === -1 ? words : words.toSpliced(at, 2)
const [kind = ''] = parts
const isPassed = kind.startsWith('fuzz-') ? await fuzzAll() : await attackAll()
process.exitCode = isPassed ? 0 : 1

/** Runs `fuzz-rest N [SEED]` or `fuzz-graphql N [SEED]`. */
async function fuzzAll(): Promise<boolean> {
  const [, requests = 1_000, seed = Date.now() % 1_000_000] = parts.map(Number)
  const gateway = await startAttackedGateway({ CLIENT_COST: costPerSecond })
  await fillLedger(gateway.url)
  const make = await requestsOf(kind, gateway)
  console.log(`${kind}: ${requests} requests, seed ${seed}`)
  const report = await fuzz({
    url: gateway.url,
    seed,
    requests,
    make,
    meter: createWorkMeter(gateway),
  })
  const { faults, answers, slowestMs, slowest } = report
  for (const fault of faults.slice(0, 20)) console.log(fault)
  console.log(
    [...answers]
      .toSorted(([, a], [, b]) => b - a)
      .map((pair) => pair.join(' '))
      .join(', '),
  )
  console.log(`slowest request, ${slowestMs.toFixed(0)} ms: ${slowest}`)
  if (!gateway.isAlive()) console.log(gateway.logged().slice(-3_000))
  else await gateway.end()
  console.log(faults.length === 0 ? 'PASSED' : `FAILED: ${faults.length} faults`)
  return faults.length === 0
}

async function requestsOf(kind: string, { url, target }: AttackedGateway) {
  const { token } = target
  const known = await knownValues(url)
  if (kind === 'fuzz-rest') {
    const document: ApiDocument = await restJson(`${url}/openapi.json`)
    return (random: Random) => restRequest({ document, known, token }, random)
  }
  const schema = buildSchema(readFileSync('schema.graphql', 'utf8'))
  return (random: Random) => graphqlRequest({ schema, known, token }, random)
}

async function attackAll(): Promise<boolean> {
  const chosen = attacks.filter(
    ({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)),
  )
  if (chosen.length === 0) {
    console.error(`no attack has such a name\n${help}`)
    return false
  }
  const measures: Measured[] = []
  let gateway = await startTarget()
  let clients = await startOtherClients(gateway.url)
  for (const attack of chosen) {
    const measured = await measure({ gateway, clients }, attack, seconds)
    measures.push(measured)
    const answers = [...measured.answers].map((pair) => pair.join(' ')).join(', ')
    const ratio = (measured.attacked.p99Ms / measured.quiet.p99Ms).toFixed(1)
    const failures = isControl ? [] : failuresOf(measured)
    console.log([attack.name, `p99 × ${ratio}`, answers, ...failures].join('; '))
    if (gateway.isAlive()) continue
    console.log(gateway.logged().slice(-2_000))
    clients.end()
    gateway = await startTarget()
    clients = await startOtherClients(gateway.url)
  }
  clients.end()
  print(measures)
  if (parts.length === 0 && !isControl) {
    await delay(restSeconds * 1_000)
    console.log(`${gateway.resources().residentMb} MB resident after ${restSeconds} s of rest`)
  }
  await gateway.end()
  // The control shows what is possible. It gives none of the expected answers.
  if (isControl) return true
  const failed = measures.filter((measured) => failuresOf(measured).length > 0)
  for (const measured of failed) console.log(`${measured.name}: ${failuresOf(measured).join('; ')}`)
  console.log(failed.length === 0 ? 'PASSED' : `FAILED: ${failed.length} of ${measures.length}`)
  return failed.length === 0
}

async function startTarget(): Promise<AttackedGateway> {
  if (isControl) return startControl()
  const gateway = await startAttackedGateway(clientLimits)
  await fillLedger(gateway.url)
  return gateway
}

function print(measures: readonly Measured[]): void {
  const milliseconds = (time: number | undefined) => (time === undefined ? '–' : time.toFixed(0))
  printTable([
    [
      'attack',
      'p99 before ms',
      'p99 under attack ms',
      'ratio',
      'failed',
      'MB before',
      'max MB',
      'descriptors before',
      'max descriptors',
      'closed after ms',
      'recovered after ms',
    ],
    ...measures.map(({ name, quiet, attacked, before, max, closedMs, recoveredMs }) => [
      name,
      milliseconds(quiet.p99Ms),
      milliseconds(attacked.p99Ms),
      (attacked.p99Ms / quiet.p99Ms).toFixed(1),
      `${attacked.failed}`,
      `${before.residentMb}`,
      `${max.residentMb}`,
      `${before.descriptors}`,
      `${max.descriptors}`,
      milliseconds(closedMs),
      milliseconds(recoveredMs),
    ]),
  ])
}
