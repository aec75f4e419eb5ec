import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { identifyOutputs } from '../../src/ledger/genesis.ts'
import { present } from '../../src/lib/assert.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { guardClock } from '../../src/lib/guarded-clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import {
  accountIdOfKey,
  developmentGenesis,
  fundedAmount,
} from '../../src/node/embedded/development.ts'
import { openEmbedded } from '../../src/node/embedded/open.ts'
import { stateMemoryOf } from '../../src/node/embedded/state.ts'
import { openSignatureChecker } from '../../src/node/signatures.ts'
import type { LedgerSource } from '../../src/node/source.ts'
import { commitmentId } from '../../src/protocol/ids.ts'
import type { Keypair } from '../../src/protocol/keys.ts'
import type { OutputId } from '../../src/protocol/primitives.ts'
import type { SignedTransaction } from '../../src/protocol/transaction.ts'
import type { Services } from '../../src/service/services.ts'
import { submitBlock } from '../../src/service/submit/submit-block.ts'
import type { Store } from '../../src/store/contract.ts'
import { openStore } from '../../src/store/open.ts'
import { blockOf, type Offer, ownedBy, paymentOf, slotNow } from '../support/wallet.ts'
import { keyOf } from './keys.ts'
import { printTable } from './measure.ts'

/** Counts the read queries of the writer per block while the gateway receives 500 blocks per second (target: at most 0.1). */

const blocksPerSecond = 500
const blocks = 10 * blocksPerSecond
/** The number of chains of transfers. Each transfer spends the remainder of the former one in its chain. */
const lanes = 100

/** Runs a ledger on a temporary SQLite file and prints the read queries of its writer. */
export async function measureBooking(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-gateway-bench-'))
  const store = unwrap(await openStore({ url: `file:${join(folder, 'bench.db')}`, log: silentLog }))
  const signatures = openSignatureChecker({ queueLimit: 100 })
  const writer = countReads(store)
  const admission = countReads(store)
  const users = Array.from({ length: lanes }, (_, index) => keyOf(index))
  const plan = developmentGenesis(
    { users, issuer: keyOf(lanes), faucet: keyOf(lanes + 1) },
    Math.floor(Date.now() / 1000),
  )
  const source = unwrap(
    await openEmbedded(
      {
        store: writer.store,
        clock: guardClock({ clock: systemClock, log: silentLog }),
        log: silentLog,
        signatures,
        holder: 'bench',
        onCommitted: () => {},
      },
      { genesis: plan, networkName: undefined, issuer: undefined, memory: stateMemoryOf(64) },
    ),
  )
  while (source.unavailable() !== undefined) await delay(10)
  const funds = identifyOutputs(plan.parameters, plan.outputs).slice(-lanes)
  const prepared = await prepareBlocks(source, users, funds)
  writer.reset()
  admission.reset()
  const space = { low: () => undefined }
  const deps = { store: admission.store, source, signatures, space, clock: systemClock }
  const seconds = await submitAll(deps, prepared)
  while ((await store.write.pendingBlocks(1)).length > 0) await delay(10)
  report(seconds, writer.counts, admission.counts)
  await source.close()
  await signatures.close()
  await store.close()
  rmSync(folder, { recursive: true })
}

interface PreparedBlock {
  /** The time at which the block is issued and sent, in Unix milliseconds. */
  readonly atMs: number
  readonly bytes: Uint8Array
}

/**
 * Signs everything in advance: first the transactions, then the blocks, whose issuing times are in the future. Yields to the event
 * loop, because the ledger is running.
 */
async function prepareBlocks(
  source: LedgerSource,
  users: readonly Keypair[],
  funds: readonly OutputId[],
): Promise<PreparedBlock[]> {
  const begun = Date.now()
  const payloads = await payloadsOf(source, users, funds)
  const [issuer] = users
  const offered = await source.issuance()
  if (!offered.ok) throw new Error(offered.error.reason)
  const { strongParents, latestFinalizedSlot, latestCommitment } = offered.value
  const key = present(issuer, 'a user')
  const offer: Offer = {
    network: source.network,
    strongParents,
    header: {
      protocolVersion: 3,
      networkId: source.network.id,
      issuingTime: 0n,
      slotCommitmentId: commitmentId(latestCommitment),
      latestFinalizedSlot,
      issuerId: accountIdOfKey(key),
    },
  }
  const startMs = Date.now() + 2 * (Date.now() - begun)
  return inTurns(payloads, (payload, index) => {
    const atMs = startMs + (index * 1000) / blocksPerSecond
    const issuingTime = BigInt(Math.floor(atMs)) * 1_000_000n
    return { atMs, bytes: blockOf(offer, payload, { key, header: { issuingTime } }).bytes }
  })
}

async function inTurns<T, U>(list: readonly T[], work: (one: T, index: number) => U): Promise<U[]> {
  const made: U[] = []
  for (const [index, one] of list.entries()) {
    made.push(work(one, index))
    if (index % 20 === 0) await setImmediate()
  }
  return made
}

function payloadsOf(
  { network }: LedgerSource,
  users: readonly Keypair[],
  funds: readonly OutputId[],
): Promise<SignedTransaction[]> {
  const creationSlot = slotNow(network)
  const left = users.map((key, lane) => ({
    key,
    outputId: present(funds[lane], 'an output'),
    amount: fundedAmount,
  }))
  return inTurns(new Array(blocks).fill(undefined), (_, index) => {
    const lane = present(left[index % lanes], 'a lane')
    const receiver = present(users[(index + 1) % lanes], 'a user')
    lane.amount -= paid
    const { payload, created } = paymentOf(network, {
      spend: lane.outputId,
      key: lane.key,
      outputs: [ownedBy(receiver, paid), ownedBy(lane.key, lane.amount)],
      creationSlot,
    })
    lane.outputId = present(created[1], 'the rest')
    return payload
  })
}

const paid = 100_000n

/** Sends each block at its time, and returns the seconds until the last one is acknowledged. */
async function submitAll(
  deps: Pick<Services, 'store' | 'source' | 'signatures' | 'clock' | 'space'>,
  prepared: readonly PreparedBlock[],
): Promise<number> {
  const answers: Promise<void>[] = []
  const begun = prepared[0]?.atMs ?? 0
  for (const { atMs, bytes } of prepared) {
    const early = atMs - Date.now()
    if (early > 0) await delay(early)
    answers.push(submit(deps, bytes))
  }
  await Promise.all(answers)
  return (Date.now() - begun) / 1000
}

/** Submits a block. On a busy machine the ledger may lag behind its clock for a moment; then it retries, as a client does. */
async function submit(
  deps: Pick<Services, 'store' | 'source' | 'signatures' | 'clock' | 'space'>,
  bytes: Uint8Array,
): Promise<void> {
  for (;;) {
    const answer = await submitBlock(deps, { form: 'bytes', bytes })
    if (answer.ok) return
    if (answer.error.code !== 'LEDGER_UNAVAILABLE') throw new Error(answer.error.code)
    await delay(20)
  }
}

function report(seconds: number, writer: Counts, admission: Counts): void {
  const queries = ([name, calls]: [string, number]) => calls * (statementsOfCall[name] ?? 1)
  const row = (entry: [string, number]) => {
    const [name, calls] = entry
    return [name, `${calls}`, `${queries(entry)}`, (queries(entry) / blocks).toFixed(3)]
  }
  // A flush of the inbox also reads which of its blocks are known. That is not part of booking.
  const flushes = writer.get('acceptBlocks') ?? 0
  const booking = [...writer].filter(([name]) => name !== 'acceptBlocks')
  const sum = booking.reduce((all, entry) => all + queries(entry), 0)
  console.log(`\n${blocks} blocks with one transfer each in ${seconds.toFixed(1)} s\n`)
  printTable([
    ['reads of booking', 'calls', 'queries', 'per block'],
    ...booking.map(row),
    ['all', '', `${sum}`, (sum / blocks).toFixed(3)],
  ])
  console.log()
  printTable([
    ['reads before booking', 'calls', 'queries', 'per block'],
    ...[...admission].map(row),
    row(['flushes of the inbox', flushes]),
  ])
}

/** The queries per call of functions that run several: for blocks, transactions, created outputs and spent outputs. */
const statementsOfCall: Readonly<Record<string, number>> = { readSlots: 9 }

/** Calls by the name of the function. */
type Counts = Map<string, number>

/** Wraps a store and counts the calls that read. */
function countReads({ read, write, ...rest }: Store) {
  const counts: Counts = new Map()
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  const counting = <T extends object>(target: T, isRead: (name: string) => boolean): T =>
    new Proxy(target, {
      get: (of, name, receiver) => {
        if (typeof name === 'string' && isRead(name)) count(name)
        return Reflect.get(of, name, receiver)
      },
    })
  const reading = [
    'pendingBlocks',
    'outputsForBooking',
    'transactionsForBooking',
    'readSlots',
    'acceptBlocks',
  ]
  const store: Store = {
    ...rest,
    read: counting(read, () => true),
    write: counting(write, (name) => reading.includes(name)),
  }
  return { store, counts, reset: () => counts.clear() }
}

function unwrap<T>(result: { ok: true; value: T } | { ok: false; error: { code: string } }): T {
  if (!result.ok) throw new Error(result.error.code)
  return result.value
}
