import { readFileSync } from 'node:fs'
import { buildSchema } from 'graphql'
import { defaultClientLimits, defaultLoopDelayMs } from '../../src/api/limits.ts'
import { printTable } from '../bench/measure.ts'
import type { Random } from '../support/random.ts'
import { getJson } from '../support/wallet.ts'
import { attacks } from './attacks.ts'
import { fuzz } from './fuzz.ts'
import { graphqlRequest } from './fuzz-graphql.ts'
import { type ApiDocument, restRequest } from './fuzz-rest.ts'
import { type AttackedGateway, fillLedger, startAttackedGateway } from './gateway.ts'
import { knownValues } from './known-values.ts'
import { failings, type Measured, measure, startCrowd } from './measure.ts'
import { createWorkMeter } from './work.ts'

/**
 * `npm run attack [-- PART OF A NAME …] [--seconds N]`: every attack, or those whose names have one of the parts, for N seconds
 * each (8). `npm run attack -- fuzz-rest N [SEED]` and `fuzz-graphql N [SEED]` send random requests. The last line is the verdict.
 */

/** What a client has of a gateway on any network but that of development. */
const shares = {
  CLIENT_COST: String(defaultClientLimits.costPerSecond),
  CLIENT_CONNECTIONS: String(defaultClientLimits.connections),
  CLIENT_SUBSCRIPTIONS: String(defaultClientLimits.subscriptions),
  MAX_LOOP_DELAY: String(defaultLoopDelayMs),
}

/** For random requests: little of what one spends comes back before it is asked what is left, and all but the dearest leave something. */
const costPerSecond = '3000'

const help = `npm run attack [-- PART OF A NAME …] [--seconds N]
npm run attack -- fuzz-rest|fuzz-graphql N [SEED]

The attacks, each for N seconds (8): ${attacks.map(({ name }) => name).join('; ')}`

const words = process.argv.slice(2)
if (words.includes('--help')) {
  console.log(help)
  process.exit(0)
}
const at = words.indexOf('--seconds')
const seconds = at === -1 ? 8 : Number(words[at + 1])
const parts = at === -1 ? words : words.toSpliced(at, 2)
const [kind = ''] = parts
const isWell = kind.startsWith('fuzz-') ? await fuzzAll() : await attackAll()
process.exitCode = isWell ? 0 : 1

/** `fuzz-rest N` or `fuzz-graphql N`, with the seed behind it. */
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
  console.log(`slowest ${slowestMs.toFixed(0)} ms: ${slowest}`)
  if (!gateway.isAlive()) console.log(gateway.logged().slice(-3_000))
  else await gateway.end()
  console.log(faults.length === 0 ? 'PASSED' : `FAILED: ${faults.length} faults`)
  return faults.length === 0
}

async function requestsOf(kind: string, { url, target }: AttackedGateway) {
  const { token } = target
  const known = await knownValues(url)
  if (kind === 'fuzz-rest') {
    const document: ApiDocument = await getJson(`${url}/openapi.json`)
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
  let gateway = await startAttackedGateway(shares)
  await fillLedger(gateway.url)
  let crowd = await startCrowd(gateway.url)
  for (const attack of chosen) {
    const measured = await measure({ gateway, crowd }, attack, seconds)
    measures.push(measured)
    const answers = [...measured.answers].map((pair) => pair.join(' ')).join(', ')
    const ratio = (measured.war.p99Ms / measured.peace.p99Ms).toFixed(1)
    console.log([attack.name, `p99 × ${ratio}`, answers, ...failings(measured)].join('; '))
    if (gateway.isAlive()) continue
    console.log(gateway.logged().slice(-2_000))
    crowd.end()
    gateway = await startAttackedGateway(shares)
    await fillLedger(gateway.url)
    crowd = await startCrowd(gateway.url)
  }
  crowd.end()
  await gateway.end()
  print(measures)
  const failed = measures.filter((measured) => failings(measured).length > 0)
  for (const measured of failed) console.log(`${measured.name}: ${failings(measured).join('; ')}`)
  console.log(failed.length === 0 ? 'PASSED' : `FAILED: ${failed.length} of ${measures.length}`)
  return failed.length === 0
}

function print(measures: readonly Measured[]): void {
  const milliseconds = (time: number | undefined) => (time === undefined ? '–' : time.toFixed(0))
  printTable([
    [
      'attack',
      'p99 peace ms',
      'p99 ms',
      'ratio',
      'failed',
      'MB before',
      'most',
      'files',
      'most',
      'back ms',
      'calm ms',
    ],
    ...measures.map(({ name, peace, war, before, most, givenBackMs, calmMs }) => [
      name,
      milliseconds(peace.p99Ms),
      milliseconds(war.p99Ms),
      (war.p99Ms / peace.p99Ms).toFixed(1),
      `${war.failed}`,
      `${before.residentMb}`,
      `${most.residentMb}`,
      `${before.descriptors}`,
      `${most.descriptors}`,
      milliseconds(givenBackMs),
      milliseconds(calmMs),
    ]),
  ])
}
