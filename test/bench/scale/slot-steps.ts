import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { boundHeap } from '../../../src/heap.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { runToCompletion } from '../../../src/lib/turns.ts'
import { buildTries } from '../../../src/node/embedded/build-tries.ts'
import {
  accountIdOfKey,
  developmentGenesis,
  developmentKeys,
} from '../../../src/node/embedded/development.ts'
import { commitSlots } from '../../../src/node/embedded/slots.ts'
import { loadLedgerState, stateMemoryOf } from '../../../src/node/embedded/state.ts'
import { genesisSteps } from '../../../src/node/genesis.ts'
import { committedSlot } from '../../../src/node/recent-commitments.ts'
import { networkOf } from '../../../src/protocol/network.ts'
import type { Store } from '../../../src/store/contract.ts'
import { openStore } from '../../../src/store/open.ts'
import { createTransfers, unwrap } from '../transfers.ts'

/** One step of a large slot, as a process of its own: the slot is booked by one, and committed by the next, which has no memory of it. */

/** What a step works on. */
export interface SlotOptions {
  readonly url: string
  readonly transfers: number
  /** How many such slots are committed one after another: the first of a process runs code that is not compiled yet. */
  readonly slots: number
}

/** What the commit of a slot did to others. */
export interface SlotFigures {
  readonly commitMs: number
  /** Of the whole process meanwhile, and of its main thread. */
  readonly processorMs: number
  readonly mainThreadMs: number
  /** The longest turn of the event loop, or some short ones, in processor time: what others do on the machine does not count. */
  readonly turnMs: number
  /** The same by the clock. */
  readonly heldMs: number
  readonly p99Ms: number
  /** The longest that a reader waited who asks again and again. */
  readonly readMs: number
  /** Resident bytes. */
  readonly before: number
  readonly most: number
}

const plan = developmentGenesis(developmentKeys(), 1_700_000_000)

/** Between two reads. */
const pauseMs = 5

const steps = { book, commit } as const

const [, , name, options] = process.argv
if (name !== undefined && Object.hasOwn(steps, name)) {
  // As the program that serves a ledger does.
  if (name === 'commit') boundHeap(process.env)
  const figures = await steps[name as keyof typeof steps](JSON.parse(options ?? '{}'))
  console.log(JSON.stringify(figures ?? {}))
}

/** Begins a ledger, commits a slot that spends nothing, and books the next one. */
async function book({ url, transfers, slots }: SlotOptions): Promise<void> {
  const { store, term } = await opened(url)
  unwrap(await store.write.initialize(term, runToCompletion(genesisSteps(plan))))
  const ended = new AbortController().signal
  unwrap(await buildTries({ store, term, ended, onProgress: () => {} }))
  const source = createTransfers(1_000_000, 'many', transfers)
  const slot = plan.parameters.genesisSlot + 1
  await bookSlot(store, term, source.next(slot))
  await commitNext(store, term, 1)
  for (let i = 1; i <= slots; i++) await bookSlot(store, term, source.next(slot + i))
  await store.write.releaseLease(term)
  await store.close()
}

/** Commits the slots that are booked. */
async function commit({ url, slots }: SlotOptions): Promise<SlotFigures> {
  const { store, term } = await opened(url)
  const figures = await watched(store, () => commitNext(store, term, slots))
  await store.close()
  return figures
}

async function opened(url: string): Promise<{ readonly store: Store; readonly term: number }> {
  const store = unwrap(await openStore({ url, log: silentLog, writesOn: 'THREAD' }))
  const { term } = unwrap(await store.write.takeLease({ holder: 'bench', ttlMs: 86_400_000 }))
  return { store, term }
}

async function commitNext(store: Store, term: number, slots: number): Promise<void> {
  const state = await loadLedgerState(store.read, plan.parameters, stateMemoryOf(64))
  const deps = { store, network: networkOf(plan.parameters), state: () => state }
  for (let left = slots; left > 0; left--) {
    const former = committedSlot(await store.read.latestMilestone())
    unwrap(await commitSlots(deps, term, { former, upTo: former.commitment.slot + 1 }))
  }
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

/** Watches the loop, a reader that asks again and again, and the memory while some work lasts. */
async function watched(store: Store, work: () => Promise<void>): Promise<SlotFigures> {
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
      // Not at each turn, which would keep the processor busy while the work waits for its database.
      await delay(1)
      turnMs = Math.max(turnMs, msOf(process.threadCpuUsage(former)))
    }
  })()
  delays.enable()
  const processor = process.cpuUsage()
  const thread = process.threadCpuUsage()
  const begun = performance.now()
  await work()
  const commitMs = performance.now() - begun
  const processorMs = msOf(process.cpuUsage(processor))
  const mainThreadMs = msOf(process.threadCpuUsage(thread))
  delays.disable()
  isOver = true
  await Promise.all([reading, turning])
  const [heldMs, p99Ms] = [delays.max / 1e6, delays.percentile(99) / 1e6]
  const times = { commitMs, processorMs, mainThreadMs, turnMs, heldMs, p99Ms, readMs }
  return { ...times, before, most }
}

function msOf({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1_000
}
