import { type CitusTrouble, tortureCitus } from './citus/citus.ts'
import { tortureCluster } from './cluster/cluster.ts'
import { longestTakeover, printReport } from './cluster/print.ts'
import { tortureFailover } from './failover/failover.ts'
import { type Failover, tortureWithReplicas } from './failover/with-replicas.ts'
import { type Trouble, tortureReplicas } from './replicas/replicas.ts'
import { torture } from './torture.ts'

/** Runs for hours of what users may meet in years. The last line is the verdict. */

const help = `npm run torture -- [WHAT] [--seed N]

             the feed, by 300 listeners while its gateway is killed [--minutes N]
  cluster    three gateways on one PostgreSQL with a million unspent outputs [--outputs N] [--kills N] [--pauses N] [--cuts N] [--restarts N] [--blocks N]
  failover   two gateways on a primary with a standby, synchronous and then not [--failovers N]
  failover-replicas  three gateways that read at two replicas of such a primary, synchronous [--failovers N]
  replicas   three gateways that read at two replicas [--troubles N]
  citus      two gateways on the Citus that TEST_CITUS_URL names, on this machine [--troubles N]

--seed N     for the same dice as another run`

const words = process.argv.slice(2)
if (words.includes('--help')) {
  console.log(help)
  process.exit()
}
const number = (flag: string, otherwise: number) => {
  const at = words.indexOf(flag)
  return at === -1 ? otherwise : Number(words[at + 1])
}
const seed = number('--seed', Date.now() % 1_000_000)
const onProgress = (text: string) => console.log(text)
const runs = new Map([
  ['cluster', runCluster],
  ['failover', runFailover],
  ['failover-replicas', runFailoverWithReplicas],
  ['replicas', runReplicas],
  ['citus', runCitus],
])
const isWell = await (runs.get(words[0] ?? '') ?? runFeed)()
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
    outputs: number('--outputs', 1_000_000),
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

async function runFailover(): Promise<boolean> {
  const reports = []
  for (const isSynchronous of [true, false]) {
    console.log(`${isSynchronous ? 'a synchronous' : 'an asynchronous'} standby, seed ${seed}`)
    const report = await tortureFailover({
      failovers: number('--failovers', 10),
      isSynchronous,
      blocksPerSecond: 40,
      listeners: 8,
      seed,
      onProgress,
    })
    const { faults, timesMs, ...counts } = report
    console.log({ ...counts, timesMs: timesMs.map(Math.round) })
    for (const fault of faults.slice(0, 20)) console.log(fault)
    reports.push(report)
  }
  return verdict(
    reports.flatMap(({ faults }) => faults),
    true,
  )
}

async function runFailoverWithReplicas(): Promise<boolean> {
  console.log(`three gateways that read at two replicas of a primary that fails over, seed ${seed}`)
  const kinds: readonly Failover[] = ['at once', 'ahead', 'late']
  const count = number('--failovers', 12)
  const { faults, takenMs, readMs, ...counts } = await tortureWithReplicas({
    failovers: Array.from({ length: count }, (_, i) => kinds[i % kinds.length] ?? 'at once'),
    blocksPerSecond: 40,
    listeners: 8,
    seed,
    onProgress,
  })
  console.log({ ...counts, takenMs: takenMs.map(Math.round), readMs: readMs.map(Math.round) })
  for (const fault of faults.slice(0, 20)) console.log(fault)
  return verdict(faults, counts.found > 0)
}

async function runReplicas(): Promise<boolean> {
  console.log(`three gateways that read at two replicas, seed ${seed}`)
  const kinds: readonly Trouble[] = ['pause', 'promote', 'crash']
  const count = number('--troubles', 12)
  const { faults, timesMs, ...counts } = await tortureReplicas({
    troubles: Array.from({ length: count }, (_, i) => kinds[i % kinds.length] ?? 'pause'),
    blocksPerSecond: 40,
    listeners: 6,
    seed,
    onProgress,
  })
  console.log({ ...counts, timesMs: timesMs.map(Math.round) })
  for (const fault of faults.slice(0, 20)) console.log(fault)
  return verdict(faults, counts.found > 0)
}

async function runCitus(): Promise<boolean> {
  console.log(`two gateways on Citus, seed ${seed}`)
  const kinds: readonly CitusTrouble[] = [
    ...(['prepared', 'worker', 'late'] as const),
    ...(['coordinator-prepared', 'gateway', 'coordinator'] as const),
  ]
  const count = number('--troubles', 18)
  const { faults, timesMs, ...counts } = await tortureCitus({
    troubles: Array.from({ length: count }, (_, i) => kinds[i % kinds.length] ?? 'prepared'),
    blocksPerSecond: 40,
    listeners: 6,
    seed,
    onProgress,
  })
  console.log({ ...counts, timesMs: timesMs.map(Math.round) })
  for (const fault of faults.slice(0, 20)) console.log(fault)
  return verdict(faults, counts.prepared > 0)
}

function verdict(faults: readonly string[], isEnough: boolean): boolean {
  const passed = faults.length === 0 && isEnough
  console.log(passed ? 'PASSED: every history equals the log' : `FAILED: ${faults.length} faults`)
  return passed
}
