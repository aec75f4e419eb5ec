import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { silentLog } from '../../../src/lib/log.ts'
import { buildTries } from '../../../src/node/embedded/build-tries.ts'
import {
  accountIdOfKey,
  developmentGenesis,
  developmentKeys,
} from '../../../src/node/embedded/development.ts'
import { commitSlots } from '../../../src/node/embedded/slots.ts'
import { loadLedgerState, stateMemoryOf } from '../../../src/node/embedded/state.ts'
import { genesisOf } from '../../../src/node/genesis.ts'
import { committedSlot } from '../../../src/node/recent-commitments.ts'
import { networkOf } from '../../../src/protocol/network.ts'
import type { Store } from '../../../src/store/contract.ts'
import { openStore } from '../../../src/store/open.ts'
import { databaseUrl, onServer, startPostgresql } from '../../support/postgresql-server.ts'
import { printTable } from '../measure.ts'
import { createTransfers, unwrap } from '../transfers.ts'

/**
 * What the commit of one large slot does to others: how long it holds the event loop, how long a reader waits, and how much memory
 * it takes. The words are numbers of transfers; `BENCH_DATABASE` measures one of the two databases alone.
 */

const sizes = [1_000, 10_000, 100_000]
const slotsMeasured = 2

/** Measures each size on both databases. */
export async function run(words: readonly string[]): Promise<void> {
  const only = process.env.BENCH_DATABASE
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-bench-'))
  const server = only === 'sqlite' ? undefined : await startPostgresql(['shared_buffers=512MB'])
  const head = [
    'database',
    'transfers',
    'commit',
    'longest turn',
    'by the clock',
    'p99',
    'longest read',
  ]
  const rows = [[...head, 'memory before', 'most']]
  try {
    for (const size of words.length === 0 ? sizes : words.map(Number)) {
      if (only !== 'postgresql') {
        rows.push(['SQLite', ...(await measure(`file:${join(folder, `${size}.db`)}`, size))])
      }
      if (server === undefined) continue
      await onServer(server.url, `CREATE DATABASE slot_${size}`)
      rows.push(['PostgreSQL', ...(await measure(databaseUrl(server.url, `slot_${size}`), size))])
    }
  } finally {
    await server?.stop()
    rmSync(folder, { recursive: true })
  }
  printTable(rows)
}

async function measure(url: string, count: number): Promise<string[]> {
  const store = unwrap(await openStore({ url, log: silentLog }))
  const { term } = unwrap(await store.write.takeLease({ holder: 'bench', ttlMs: 86_400_000 }))
  const plan = developmentGenesis(developmentKeys(), 1_700_000_000)
  unwrap(await store.write.initialize(term, genesisOf(plan)))
  const ended = new AbortController().signal
  unwrap(await buildTries({ store, term, ended, onProgress: () => {} }))
  const state = await loadLedgerState(store.read, plan.parameters, stateMemoryOf(64))
  const deps = { store, network: networkOf(plan.parameters), state: () => state }
  const source = createTransfers(1_000_000, 'many', count)
  const figures: Figures[] = []
  // The first slot spends nothing.
  for (let n = 0; n <= slotsMeasured; n++) {
    const former = committedSlot(await store.read.latestMilestone())
    const upTo = former.commitment.slot + 1
    await bookSlot(store, term, source.next(upTo))
    figures.push(
      await watched(store, async () => {
        unwrap(await commitSlots(deps, term, { former, upTo }))
      }),
    )
  }
  await store.close()
  const worst = (of: keyof Figures) => Math.max(...figures.slice(1).map((one) => one[of]))
  return [
    count.toLocaleString('en'),
    `${(worst('commitMs') / 1_000).toFixed(2)} s`,
    ...(['turnMs', 'heldMs', 'p99Ms', 'readMs'] as const).map(
      (name) => `${worst(name).toFixed(0)} ms`,
    ),
    ...(['before', 'most'] as const).map((name) => `${(worst(name) / 2 ** 20).toFixed(0)} MB`),
  ]
}

async function bookSlot(
  { write }: Store,
  term: number,
  { incoming, booking }: ReturnType<ReturnType<typeof createTransfers>['next']>,
): Promise<void> {
  const issuerId = accountIdOfKey(developmentKeys().issuer)
  const slot = incoming[0]?.slot ?? 0
  for (const some of parts(incoming)) {
    await write.acceptBlocks(some.map((block) => ({ ...block, issuerId })))
  }
  unwrap(await write.closeSlots(term, slot))
  const { blocks, transactions, created, spent } = booking
  const none = { blocks: [], transactions: [], created: [], spent: [] }
  for (const some of parts(blocks)) unwrap(await write.book(term, { ...none, blocks: some }))
  for (const some of parts(transactions)) {
    unwrap(await write.book(term, { ...none, transactions: some }))
  }
  for (const some of parts(created)) unwrap(await write.book(term, { ...none, created: some }))
  for (const some of parts(spent)) unwrap(await write.book(term, { ...none, spent: some }))
}

function parts<T>(list: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / 5_000) }, (_, i) =>
    list.slice(i * 5_000, (i + 1) * 5_000),
  )
}

interface Figures {
  readonly commitMs: number
  /** The longest turn of the event loop, in processor time: what others do on the machine does not count. */
  readonly turnMs: number
  /** The same by the clock. */
  readonly heldMs: number
  readonly p99Ms: number
  readonly readMs: number
  /** Resident bytes. */
  readonly before: number
  readonly most: number
}

/** Watches the loop, a reader that asks again and again, and the memory while some work lasts. */
async function watched(store: Store, work: () => Promise<void>): Promise<Figures> {
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  const delays = monitorEventLoopDelay({ resolution: 1 })
  let isOver = false
  let readMs = 0
  let most = before
  const reading = (async () => {
    while (!isOver) {
      // As a request that comes while the loop is held: the pause counts where it is longer than it should be.
      const asked = performance.now() + pauseMs
      await delay(pauseMs)
      await store.read.logTip()
      readMs = Math.max(readMs, performance.now() - asked)
      most = Math.max(most, process.memoryUsage.rss())
    }
  })()
  let turnMs = 0
  const turning = (async () => {
    while (!isOver) {
      const former = process.threadCpuUsage()
      await setImmediate()
      const { user, system } = process.threadCpuUsage(former)
      turnMs = Math.max(turnMs, (user + system) / 1_000)
    }
  })()
  delays.enable()
  const begun = performance.now()
  await work()
  const commitMs = performance.now() - begun
  delays.disable()
  isOver = true
  await Promise.all([reading, turning])
  const [heldMs, p99Ms] = [delays.max / 1e6, delays.percentile(99) / 1e6]
  return { commitMs, turnMs, heldMs, p99Ms, readMs, before, most }
}

const pauseMs = 5
