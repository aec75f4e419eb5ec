import { type CitusTrouble, tortureCitus } from './citus/citus.ts'
import { tortureCluster } from './cluster/cluster.ts'
import { longestTakeover, printReport } from './cluster/print.ts'
import { tortureFailover } from './failover/failover.ts'
import { type Failover, tortureWithReplicas } from './failover/with-replicas.ts'
import { type Trouble, tortureReplicas } from './replicas/replicas.ts'
import { torture } from './torture.ts'

/** Runs failures for minutes or hours that a deployment meets in years. The last line states whether the run passed. */

const help = `npm run torture -- [RUN] [--seed N]

             without RUN: 300 subscribers of one gateway, which is killed repeatedly [--minutes N]
  cluster    three gateways on one PostgreSQL with a million unspent outputs [--outputs N] [--kills N] [--pauses N] [--cuts N] [--restarts N] [--blocks N]
  failover   two gateways on a primary with a standby, first synchronous, then asynchronous [--failovers N]
  failover-replicas  three gateways that read from two replicas of a primary with a synchronous standby [--failovers N]
  replicas   three gateways that read from two replicas, N failures of one replica [--troubles N]
  citus      two gateways on the Citus of TEST_CITUS_URL, which must run on this machine, N failures [--troubles N]

--seed N     repeats the random choices of another run`

const words = process.argv.slice(2)
if (words.includes('--help')) {
  console.log(help)
  process.exit()
}
const number = (flag: string, byDefault: number) => {
  const at = words.indexOf(flag)
  return at === -1 ? byDefault : Number(words[at + 1])
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
const isPassed = await (runs.get(words[0] ?? '') ?? runFeed)()
process.exitCode = isPassed ? 0 : 1

async function runFeed(): Promise<boolean> {
  const minutes = number('--minutes', 3.5)
  console.log(`${minutes} minutes, seed ${seed}`)
  const report = await torture({
    seconds: minutes * 60,
    kills: Math.max(50, Math.round(minutes * 14)),
    subscribers: 300,
    paymentsPerSecond: 40,
    seed,
    onProgress,
  })
  const { faults, sessions, ...counts } = report
  console.log({ ...counts, sessions })
  for (const fault of faults.slice(0, 20)) console.log(fault)
  const isEnough = report.deliveries >= 100_000
  if (!isEnough) console.log('fewer than 100,000 deliveries: not enough for a result')
  return isSuccess(faults, isEnough)
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
    subscribers: 12,
    isDurable: true,
    seed,
    onProgress,
  })
  printReport(report)
  const isFast = longestTakeover(report) < 5_000
  if (!isFast) console.log('a takeover took more than five seconds')
  return isSuccess(report.faults, isFast)
}

async function runFailover(): Promise<boolean> {
  const reports = []
  for (const isSynchronous of [true, false]) {
    console.log(
      `two gateways on a primary with ${isSynchronous ? 'a synchronous' : 'an asynchronous'} standby, seed ${seed}`,
    )
    const report = await tortureFailover({
      failovers: number('--failovers', 10),
      isSynchronous,
      blocksPerSecond: 40,
      subscribers: 8,
      seed,
      onProgress,
    })
    const { faults, timesMs, ...counts } = report
    console.log({ ...counts, timesMs: timesMs.map(Math.round) })
    for (const fault of faults.slice(0, 20)) console.log(fault)
    reports.push(report)
  }
  return isSuccess(
    reports.flatMap(({ faults }) => faults),
    true,
  )
}

async function runFailoverWithReplicas(): Promise<boolean> {
  console.log(
    `three gateways that read from two replicas of a primary that fails over, seed ${seed}`,
  )
  const kinds: readonly Failover[] = ['at once', 'ahead', 'late']
  const count = number('--failovers', 12)
  const { faults, acceptedMs, readMs, ...counts } = await tortureWithReplicas({
    failovers: Array.from({ length: count }, (_, i) => kinds[i % kinds.length] ?? 'at once'),
    blocksPerSecond: 40,
    subscribers: 8,
    seed,
    onProgress,
  })
  console.log({ ...counts, acceptedMs: acceptedMs.map(Math.round), readMs: readMs.map(Math.round) })
  for (const fault of faults.slice(0, 20)) console.log(fault)
  return isSuccess(faults, counts.found > 0)
}

async function runReplicas(): Promise<boolean> {
  console.log(`three gateways that read from two replicas, seed ${seed}`)
  const kinds: readonly Trouble[] = ['pause', 'promote', 'crash']
  const count = number('--troubles', 12)
  const { faults, timesMs, ...counts } = await tortureReplicas({
    troubles: Array.from({ length: count }, (_, i) => kinds[i % kinds.length] ?? 'pause'),
    blocksPerSecond: 40,
    subscribers: 6,
    seed,
    onProgress,
  })
  console.log({ ...counts, timesMs: timesMs.map(Math.round) })
  for (const fault of faults.slice(0, 20)) console.log(fault)
  return isSuccess(faults, counts.found > 0)
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
    subscribers: 6,
    seed,
    onProgress,
  })
  console.log({ ...counts, timesMs: timesMs.map(Math.round) })
  for (const fault of faults.slice(0, 20)) console.log(fault)
  return isSuccess(faults, counts.prepared > 0)
}

/** Prints the result of a run. `isEnough` is false if the run tested too little. */
function isSuccess(faults: readonly string[], isEnough: boolean): boolean {
  const passed = faults.length === 0 && isEnough
  console.log(
    passed
      ? 'PASSED: each subscriber received exactly its rows of the log'
      : `FAILED: ${faults.length} faults`,
  )
  return passed
}
