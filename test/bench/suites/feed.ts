import { type Bench, startBench } from '../feed/processes.ts'
import type { Mode, Usage } from '../feed/protocol.ts'
import { median, printTable } from '../measure.ts'

/**
 * Measures the cost of many subscribers: (a) bare `ws` sends one prepared buffer of the same size, (b) graphql-ws executes once per
 * subscriber, (c) is the gateway. `BENCH_CLIENTS` sets the number of subscribers, 10,000 by default.
 */

const many = Number(process.env.BENCH_CLIENTS ?? 10_000)
const most = Math.round(many * 1.9)
const commits = Number(process.env.BENCH_COMMITS ?? 20)
const modes: readonly (readonly [string, Mode])[] = [
  ['(a) bare', 'bare'],
  ['(b) each', 'each'],
  ['(c) gateway', 'gateway'],
]

/** Runs the parts that `BENCH_PARTS` names, by default all. */
export async function run(): Promise<void> {
  const parts = (process.env.BENCH_PARTS ?? 'fan few memory return quiet stall').split(' ')
  const all: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
    fan: fanOut,
    few,
    memory,
    return: reconnect,
    quiet,
    stall,
  }
  for (const part of parts) {
    const bench = await startBench()
    try {
      await all[part]?.(bench)
    } finally {
      bench.end()
    }
  }
}

async function usageOf({ server }: Bench, collect = false): Promise<Usage> {
  return (await server.ask({ do: 'usage', collect })).usage
}

/** Measures updates that every client receives. */
async function fanOut(bench: Bench): Promise<void> {
  console.log(`One update for all ${many} clients, ${commits} times\n`)
  const rows = [['', 'CPU µs per delivery', 'p50 ms', 'p99 ms', 'bytes']]
  const cpus = new Map<Mode, number>()
  const tails = new Map<Mode, number>()
  for (const [name, mode] of modes) {
    await bench.open({ mode, count: many, of: 'one' })
    for (let i = 0; i < 5; i++) await bench.commit([0], mode, many)
    await bench.latencies()
    const spent: number[] = []
    for (let i = 0; i < commits; i++) {
      const before = await usageOf(bench)
      await bench.commit([0], mode, many)
      spent.push(((await usageOf(bench)).cpu - before.cpu) / many)
    }
    const latencies = await bench.latencies()
    cpus.set(mode, median(spent))
    tails.set(mode, percentile(latencies, 99))
    rows.push([
      name,
      median(spent).toFixed(2),
      percentile(latencies, 50).toFixed(0),
      percentile(latencies, 99).toFixed(0),
      String(await bench.bytes()),
    ])
    await bench.cut()
    await allClosed(bench)
  }
  printTable(rows)
  const [bare = 1, each = 1, gateway = 1] = modes.map(([, mode]) => cpus.get(mode))
  const [bareTail = 1, , gatewayTail = 1] = modes.map(([, mode]) => tails.get(mode))
  console.log(`\nCPU: (c)/(a) ${(gateway / bare).toFixed(2)} (target: at most 1.3)`)
  console.log(`CPU: (c)/(b) ${(gateway / each).toFixed(2)} (target: at most 0.5)`)
  console.log(`p99: (c)/(a) ${(gatewayTail / bareTail).toFixed(2)} (target: at most 1.5)\n`)
}

/** Measures milestones that concern a hundred clients, each with a different address. */
async function few(bench: Bench): Promise<void> {
  await bench.open({ mode: 'gateway', count: many, of: 'own' })
  const step = Math.floor(many / 100)
  const concerned = (i: number) => Array.from({ length: 100 }, (_, n) => n * step + (i % step))
  for (let i = 0; i < 5; i++) await bench.commit(concerned(i), 'gateway', 100)
  await bench.latencies()
  const middles: number[] = []
  const tails: number[] = []
  for (let round = 0; round < 9; round++) {
    for (let i = 0; i < commits / 2; i++) await bench.commit(concerned(round + i), 'gateway', 100)
    const latencies = await bench.latencies()
    middles.push(percentile(latencies, 50))
    tails.push(percentile(latencies, 99))
  }
  console.log(
    `Updates for 100 of ${many} clients: p50 ${median(middles).toFixed(1)} ms, p99 ${median(tails).toFixed(1)} ms (target: at most 50 ms), medians of ${tails.length} rounds\n`,
  )
}

/** Measures the memory per client, with as many clients as a process may have. */
async function memory(bench: Bench): Promise<void> {
  await bench.open({ mode: 'gateway', count: 100, of: 'own' })
  await bench.cut()
  await allClosed(bench)
  const before = await usageOf(bench, true)
  await bench.open({ mode: 'gateway', count: most, of: 'own' })
  await live(bench, most)
  const after = await usageOf(bench, true)
  const each = (after.rss - before.rss) / most / 1_000
  console.log(
    `${most} clients with one address each: ${each.toFixed(1)} KB per client (target: at most 20)\n`,
  )
}

/** Measures the reconnection of all clients at once. */
async function reconnect(bench: Bench): Promise<void> {
  await bench.open({ mode: 'gateway', count: many, of: 'own' })
  await live(bench, many)
  const { cursor } = await bench.server.ask({ do: 'usage', collect: false })
  await bench.cut()
  for (let i = 0; i < 5; i++) await bench.commit([i, i + 1, i + 2], 'gateway', 0)
  await allClosed(bench)
  const before = await usageOf(bench)
  const start = performance.now()
  await bench.open({ mode: 'gateway', count: many, of: 'own', after: cursor })
  await live(bench, many)
  const seconds = (performance.now() - start) / 1_000
  const { reads } = await usageOf(bench)
  console.log(
    `${many} clients resumed in ${seconds.toFixed(1)} s (target: 15), with ${reads - before.reads} reads (target: fewer than 200)\n`,
  )
}

const busy = Array.from({ length: 1_000 }, (_, i) => 1_000_000 + i)

/** Measures the cost of clients whose addresses have no updates, with and without updates of other addresses. */
async function quiet(bench: Bench): Promise<void> {
  /** One milestone per second, for the interval of pings: each measurement includes one ping of every client. */
  const milestones = 11
  /** Alternates both cases, so that other work of the machine affects both. Collects garbage before each measurement. */
  const cost = async () => {
    const spent = { none: [] as number[], busy: [] as number[] }
    for (let block = 0; block < 6; block++) {
      const kind = block % 2 === 0 ? 'none' : 'busy'
      const before = await usageOf(bench, true)
      for (let i = 0; i < milestones; i++) {
        await bench.commit(kind === 'none' ? [] : busy, 'gateway', 0)
        await pause(1_000)
      }
      spent[kind].push(((await usageOf(bench)).cpu - before.cpu) / milestones)
    }
    return { none: median(spent.none), busy: median(spent.busy) }
  }
  const alone = await cost()
  await bench.open({ mode: 'gateway', count: many, of: 'own' })
  await live(bench, many)
  const followed = await cost()
  const perFollower = (with_: number, without: number) => (with_ - without) / many
  printTable([
    ['CPU µs per milestone', 'no updates of others', '1,000 updates of others'],
    ['no clients', alone.none.toFixed(0), alone.busy.toFixed(0)],
    [`${many} clients`, followed.none.toFixed(0), followed.busy.toFixed(0)],
    [
      'per client',
      perFollower(followed.none, alone.none).toFixed(3),
      perFollower(followed.busy, alone.busy).toFixed(3),
    ],
  ])
  console.log('')
}

/**
 * Alternates between phases in which one client stops reading and phases in which all clients read. The client follows the whole
 * ledger, with a thousand other updates per slot, so its unread messages soon fill all buffers.
 */
async function stall(bench: Bench): Promise<void> {
  await bench.open({ mode: 'gateway', count: many, of: 'one' })
  await bench.open({ mode: 'gateway', count: 1, of: 'all' })
  const addresses = [0, ...busy]
  const tails = { reading: [] as number[], stalled: [] as number[] }
  const grown = { reading: [] as number[], stalled: [] as number[] }
  for (let turn = 0; turn < 9; turn++) {
    const state = turn % 2 === 0 ? 'reading' : 'stalled'
    await bench.read(state === 'reading')
    if (state === 'reading') await live(bench, many + 1)
    const before = await usageOf(bench, true)
    for (let i = 0; i < commits / 4; i++) {
      await bench.commit(addresses, 'gateway', many)
      const tail = percentile(await bench.latencies(), 99)
      // The first turn warms up.
      if (turn > 0) tails[state].push(tail)
    }
    if (turn > 0) grown[state].push((await usageOf(bench, true)).rss - before.rss)
  }
  const [calm, disturbed] = [median(tails.reading), median(tails.stalled)]
  const more = (median(grown.stalled) - median(grown.reading)) / 1e6
  console.log(
    `One of ${many} clients stalls: p99 of the others ${calm.toFixed(0)} → ${disturbed.toFixed(0)} ms (target: within 10 %), ${more.toFixed(1)} MB more memory (target: less than 5)\n`,
  )
}

/** Waits until `count` feeds are live. */
async function live(bench: Bench, count: number): Promise<void> {
  while ((await usageOf(bench)).live < count) await pause(50)
}

/** Waits until all connections are closed. */
async function allClosed(bench: Bench): Promise<void> {
  for (;;) {
    const { live: feeds, others } = await usageOf(bench)
    if (feeds + others === 0) return
    await pause(50)
  }
}

function percentile(sorted: readonly number[], percent: number): number {
  return (
    sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN
  )
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
