import { type Bench, startBench } from '../feed/processes.ts'
import type { Mode, Usage } from '../feed/protocol.ts'
import { median, printTable } from '../measure.ts'

/**
 * What telling many costs: (a) is one ready buffer of the same size sent by bare `ws`, (b) is graphql-ws with an
 * execution for each subscriber, (c) is ours. `BENCH_CLIENTS` makes it smaller than ten thousand.
 */

const many = Number(process.env.BENCH_CLIENTS ?? 10_000)
const most = Math.round(many * 1.9)
const commits = Number(process.env.BENCH_COMMITS ?? 20)
const modes: readonly (readonly [string, Mode])[] = [
  ['(a) bare', 'bare'],
  ['(b) each', 'each'],
  ['(c) ours', 'ours'],
]

/** Runs everything in one go. */
export async function run(): Promise<void> {
  const parts = (process.env.BENCH_PARTS ?? 'fan few memory return quiet stall').split(' ')
  const all: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
    fan: fanOut,
    few,
    memory,
    return: comeBack,
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

/** Everybody is told the same. */
async function fanOut(bench: Bench): Promise<void> {
  console.log(`One update for all of ${many}, ${commits} times\n`)
  const rows = [['', 'CPU µs a delivery', 'p50 ms', 'p99 ms', 'bytes']]
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
    await quietened(bench)
  }
  printTable(rows)
  const [bare = 1, each = 1, ours = 1] = modes.map(([, mode]) => cpus.get(mode))
  const [bareTail = 1, , ourTail = 1] = modes.map(([, mode]) => tails.get(mode))
  console.log(`\nCPU: (c)/(a) ${(ours / bare).toFixed(2)} (wanted: at most 1.3)`)
  console.log(`CPU: (c)/(b) ${(ours / each).toFixed(2)} (wanted: at most 0.5)`)
  console.log(`p99: (c)/(a) ${(ourTail / bareTail).toFixed(2)} (wanted: at most 1.5)\n`)
}

/** Each milestone concerns a hundred, each of them with an address of his own. */
async function few(bench: Bench): Promise<void> {
  await bench.open({ mode: 'ours', count: many, of: 'own' })
  const step = Math.floor(many / 100)
  const concerned = (i: number) => Array.from({ length: 100 }, (_, n) => n * step + (i % step))
  for (let i = 0; i < 5; i++) await bench.commit(concerned(i), 'ours', 100)
  await bench.latencies()
  const middles: number[] = []
  const tails: number[] = []
  for (let round = 0; round < 9; round++) {
    for (let i = 0; i < commits / 2; i++) await bench.commit(concerned(round + i), 'ours', 100)
    const latencies = await bench.latencies()
    middles.push(percentile(latencies, 50))
    tails.push(percentile(latencies, 99))
  }
  console.log(
    `100 of ${many} concerned: p50 ${median(middles).toFixed(1)} ms, p99 ${median(tails).toFixed(1)} ms (wanted: at most 50 ms), medians of ${tails.length} rounds\n`,
  )
}

/** As many as a process may have. */
async function memory(bench: Bench): Promise<void> {
  await bench.open({ mode: 'ours', count: 100, of: 'own' })
  await bench.cut()
  await quietened(bench)
  const before = await usageOf(bench, true)
  await bench.open({ mode: 'ours', count: most, of: 'own' })
  await live(bench, most)
  const after = await usageOf(bench, true)
  const each = (after.rss - before.rss) / most / 1_000
  console.log(`${most} open, an address each: ${each.toFixed(1)} KB each (wanted: at most 20)\n`)
}

/** All lose their line together. */
async function comeBack(bench: Bench): Promise<void> {
  await bench.open({ mode: 'ours', count: many, of: 'own' })
  await live(bench, many)
  const { cursor } = await bench.server.ask({ do: 'usage', collect: false })
  await bench.cut()
  for (let i = 0; i < 5; i++) await bench.commit([i, i + 1, i + 2], 'ours', 0)
  await quietened(bench)
  const before = await usageOf(bench)
  const start = performance.now()
  await bench.open({ mode: 'ours', count: many, of: 'own', after: cursor })
  await live(bench, many)
  const seconds = (performance.now() - start) / 1_000
  const { reads } = await usageOf(bench)
  console.log(
    `${many} back after ${seconds.toFixed(1)} s (wanted: 15), with ${reads - before.reads} reads (wanted: fewer than 200)\n`,
  )
}

const busy = Array.from({ length: 1_000 }, (_, i) => 1_000_000 + i)

/** What followers of quiet addresses cost, by what happens to others. */
async function quiet(bench: Bench): Promise<void> {
  /** As many seconds as a round of pings takes: every block has one of each follower. */
  const milestones = 11
  /** In turns, so that what else the machine does comes to both; what a block leaves is collected before the next. */
  const cost = async () => {
    const spent = { none: [] as number[], busy: [] as number[] }
    for (let block = 0; block < 6; block++) {
      const kind = block % 2 === 0 ? 'none' : 'busy'
      const before = await usageOf(bench, true)
      for (let i = 0; i < milestones; i++) {
        await bench.commit(kind === 'none' ? [] : busy, 'ours', 0)
        await pause(1_000)
      }
      spent[kind].push(((await usageOf(bench)).cpu - before.cpu) / milestones)
    }
    return { none: median(spent.none), busy: median(spent.busy) }
  }
  const alone = await cost()
  await bench.open({ mode: 'ours', count: many, of: 'own' })
  await live(bench, many)
  const followed = await cost()
  const perFollower = (with_: number, without: number) => (with_ - without) / many
  printTable([
    ['CPU µs a milestone', 'others get none', 'others get 1,000'],
    ['nobody follows', alone.none.toFixed(0), alone.busy.toFixed(0)],
    [`${many} follow`, followed.none.toFixed(0), followed.busy.toFixed(0)],
    [
      'a follower',
      perFollower(followed.none, alone.none).toFixed(3),
      perFollower(followed.busy, alone.busy).toFixed(3),
    ],
  ])
  console.log('')
}

/**
 * One of many reads no more, in turns with a time when all do. It follows the whole ledger, where a thousand others are
 * told of at a time: what it does not read soon fills all buffers on the way.
 */
async function stall(bench: Bench): Promise<void> {
  await bench.open({ mode: 'ours', count: many, of: 'one' })
  await bench.open({ mode: 'ours', count: 1, of: 'all' })
  const addresses = [0, ...busy]
  const tails = { reading: [] as number[], stalled: [] as number[] }
  const grown = { reading: [] as number[], stalled: [] as number[] }
  for (let turn = 0; turn < 9; turn++) {
    const state = turn % 2 === 0 ? 'reading' : 'stalled'
    await bench.read(state === 'reading')
    if (state === 'reading') await live(bench, many + 1)
    const before = await usageOf(bench, true)
    for (let i = 0; i < commits / 4; i++) {
      await bench.commit(addresses, 'ours', many)
      const tail = percentile(await bench.latencies(), 99)
      // The first turn warms up.
      if (turn > 0) tails[state].push(tail)
    }
    if (turn > 0) grown[state].push((await usageOf(bench, true)).rss - before.rss)
  }
  const [calm, disturbed] = [median(tails.reading), median(tails.stalled)]
  const more = (median(grown.stalled) - median(grown.reading)) / 1e6
  console.log(
    `One of ${many} stalls: p99 of the others ${calm.toFixed(0)} → ${disturbed.toFixed(0)} ms (wanted: within 10 %), ${more.toFixed(1)} MB more (wanted: less than 5)\n`,
  )
}

/** Waits until so many feeds are live. */
async function live(bench: Bench, count: number): Promise<void> {
  while ((await usageOf(bench)).live < count) await pause(50)
}

/** Waits until everybody has gone. */
async function quietened(bench: Bench): Promise<void> {
  for (;;) {
    const { live: ours, others } = await usageOf(bench)
    if (ours + others === 0) return
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
