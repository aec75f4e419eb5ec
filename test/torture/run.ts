import { tortureCluster } from './cluster/cluster.ts'
import { longestTakeover, printReport } from './cluster/print.ts'
import { torture } from './torture.ts'

/**
 * `npm run torture [-- --minutes N] [--seed N]`: the feed under torture. `npm run torture -- cluster [--seed N]`: three
 * gateways on one database. The last line is the verdict.
 */

const words = process.argv.slice(2)
const number = (flag: string, otherwise: number) => {
  const at = words.indexOf(flag)
  return at === -1 ? otherwise : Number(words[at + 1])
}
const seed = number('--seed', Date.now() % 1_000_000)
const onProgress = (text: string) => console.log(text)
const isWell = words[0] === 'cluster' ? await runCluster() : await runFeed()
process.exitCode = isWell ? 0 : 1

async function runFeed(): Promise<boolean> {
  const minutes = number('--minutes', 3.5)
  console.log(`${minutes} minutes, seed ${seed}`)
  const report = await torture({
    seconds: minutes * 60,
    kills: Math.max(50, Math.round(minutes * 14)),
    listeners: 300,
    paymentsPerSecond: 40,
    seed,
    onProgress,
  })
  const { faults, sessions, ...counts } = report
  console.log({ ...counts, sessions })
  for (const fault of faults.slice(0, 20)) console.log(fault)
  const isEnough = report.deliveries >= 100_000
  if (!isEnough) console.log('fewer than 100,000 deliveries: too little to say anything')
  return verdict(faults, isEnough)
}

async function runCluster(): Promise<boolean> {
  console.log(`three gateways on one PostgreSQL, seed ${seed}`)
  const report = await tortureCluster({
    kills: number('--kills', 20),
    pauses: number('--pauses', 5),
    cuts: number('--cuts', 5),
    restarts: number('--restarts', 2),
    blocks: number('--blocks', 10_000),
    blocksPerSecond: 80,
    listeners: 12,
    isDurable: true,
    seed,
    onProgress,
  })
  printReport(report)
  const isSoon = longestTakeover(report) < 5_000
  if (!isSoon) console.log('a takeover took more than five seconds')
  return verdict(report.faults, isSoon)
}

function verdict(faults: readonly string[], isEnough: boolean): boolean {
  const passed = faults.length === 0 && isEnough
  console.log(passed ? 'PASSED: every history equals the log' : `FAILED: ${faults.length} faults`)
  return passed
}
