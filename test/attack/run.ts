import { printTable } from '../bench/measure.ts'
import { attacks } from './attacks.ts'
import { fillLedger, startAttackedGateway } from './gateway.ts'
import { failings, type Measured, measure, startCrowd } from './measure.ts'

/**
 * `npm run attack [-- PART OF A NAME …] [--seconds N]`: every attack, or those whose names have one of the parts, for N seconds
 * each (8). The last line is the verdict.
 */

const words = process.argv.slice(2)
const at = words.indexOf('--seconds')
const seconds = at === -1 ? 8 : Number(words[at + 1])
const parts = at === -1 ? words : words.toSpliced(at, 2)
process.exitCode = (await attackAll()) ? 0 : 1

async function attackAll(): Promise<boolean> {
  const chosen = attacks.filter(
    ({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)),
  )
  const measures: Measured[] = []
  let gateway = await startAttackedGateway()
  await fillLedger(gateway.url)
  let crowd = await startCrowd(gateway.url)
  for (const attack of chosen) {
    const measured = await measure({ gateway, crowd }, attack, seconds)
    measures.push(measured)
    console.log(JSON.stringify({ name: attack.name, ...Object.fromEntries(measured.answers) }))
    if (gateway.isAlive()) continue
    console.log(gateway.logged().slice(-2_000))
    crowd.end()
    gateway = await startAttackedGateway()
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
