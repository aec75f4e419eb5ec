import { once } from 'node:events'
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { boundHeap } from '../../../src/heap.ts'
import { present } from '../../../src/lib/assert.ts'
import { bytesToHex, hexToBytes } from '../../../src/lib/hex.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { ok } from '../../../src/lib/result.ts'
import { tryLease } from '../../../src/node/lease.ts'
import { snapshotLines } from '../../../src/node/snapshot/read-snapshot.ts'
import { receiveSnapshot } from '../../../src/node/snapshot/receive-snapshot.ts'
import {
  firstCheck,
  type ProvenOutput,
  parsePart,
  type SnapshotHead,
  snapshotLine,
  splitLine,
} from '../../../src/node/snapshot/snapshot-format.ts'
import { snapshotSource } from '../../../src/node/snapshot/snapshot-source.ts'
import { verifySnapshot } from '../../../src/node/snapshot/verify-snapshot.ts'
import { SlotCommitment } from '../../../src/protocol/commitment.ts'
import { commitmentId } from '../../../src/protocol/ids.ts'
import { merkleRoot } from '../../../src/protocol/merkle.ts'
import { ProtocolParameters } from '../../../src/protocol/parameters.ts'
import type { CommitmentId } from '../../../src/protocol/primitives.ts'
import { encode } from '../../../src/protocol/schema/schema.ts'
import { decodeStored } from '../../../src/protocol/stored.ts'
import { openDatabase, openStore } from '../../../src/store/open.ts'
import { iotaCoreFile } from '../../support/iota-core-file.ts'
import { makeSnapshotLedger } from '../../support/snapshot-ledger.ts'
import { testParameters } from '../../support/store-rows.ts'
import { unwrap } from '../transfers.ts'

/** One step of a snapshot, as a process of its own, which prints what it took. */

/** What a step works on. */
export interface StepOptions {
  readonly url: string
  readonly file: string
  readonly outputs: number
}

/** What a step took. */
export interface StepFigures {
  readonly processorMs: number
  /** Of it on the main thread: the least that the step takes by the clock, however many processors there are. */
  readonly mainThreadMs: number
  readonly wallMs: number
  readonly peakMegabytes: number
  /** The longest that it held the event loop. */
  readonly stallMs: number
}

/** The steps by name. */
export const steps = { make, write, convert, check, receive } as const

const [, , name, options] = process.argv
if (name !== undefined && Object.hasOwn(steps, name)) {
  // Only the program that serves a ledger bounds its heap.
  if (name === 'receive') boundHeap(process.env)
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  const before = process.cpuUsage()
  const threadBefore = process.threadCpuUsage()
  const begun = performance.now()
  await steps[name as keyof typeof steps](JSON.parse(options ?? '{}'))
  const { user, system } = process.cpuUsage(before)
  const mainThread = process.threadCpuUsage(threadBefore)
  const figures: StepFigures = {
    processorMs: (user + system) / 1_000,
    mainThreadMs: (mainThread.user + mainThread.system) / 1_000,
    wallMs: performance.now() - begun,
    peakMegabytes: process.resourceUsage().maxRSS / 1_024,
    stallMs: delays.max / 1e6,
  }
  console.log(JSON.stringify(figures))
}

async function make({ url, file, outputs }: StepOptions): Promise<void> {
  const store = unwrap(await openStore({ url, log: silentLog }))
  const database = unwrap(await openDatabase({ url, log: silentLog }))
  writeFileSync(
    `${file}.head`,
    JSON.stringify(await makeSnapshotLedger({ store, database }, outputs)),
  )
  if (database.kind === 'postgresql') await database.writer.$executeRawUnsafe('VACUUM ANALYZE')
  await database.close()
  await store.close()
}

async function write({ url, file }: StepOptions): Promise<void> {
  const store = unwrap(await openStore({ url, log: silentLog }))
  const head: SnapshotHead = JSON.parse(readFileSync(`${file}.head`, 'utf8'))
  const { check, text } = snapshotLine(firstCheck, { section: 'head', head })
  const out = createWriteStream(file)
  out.write(`${text}\n`)
  const parameters = decodeStored(ProtocolParameters, testParameters)
  const range = {
    slot: head.slot,
    section: 'outputs',
    after: '0x',
    check,
    seq: 1,
    parameters,
  } as const
  for await (const line of snapshotLines(store.read, range)) {
    if (!out.write(line)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'finish')
  await store.close()
}

/** The file that iota-core would have written, beside that of this program; the slots before have empty commitments. */
async function convert({ file }: StepOptions): Promise<void> {
  let head: SnapshotHead | undefined
  const outputs: ProvenOutput[] = []
  for await (const line of snapshotSource(file).lines(undefined)) {
    const part = parsePart(splitLine(line)?.text ?? '')
    if (part?.section === 'head') head = part.head
    if (part?.section === 'outputs') outputs.push(...part.rows)
  }
  const { slot, parameters, roots } = present(head, 'a head')
  const commitments: Uint8Array[] = []
  let previousCommitmentId = bytesToHex(new Uint8Array(36)) as CommitmentId
  for (let at = decodeStored(ProtocolParameters, testParameters).genesisSlot; at <= slot; at++) {
    const rootsId = bytesToHex(merkleRoot(roots.map(hexToBytes)))
    const numbers = { cumulativeWeight: 0n, referenceManaCost: 1n }
    const made = { protocolVersion: 3, slot: at, previousCommitmentId, rootsId, ...numbers }
    commitments.push(encode(SlotCommitment, made))
    previousCommitmentId = commitmentId(made)
  }
  const ledger = { slot, parameters, roots, commitments, outputs, accounts: [] }
  writeFileSync(`${file}.iota-core`, iotaCoreFile(ledger).bytes)
}

async function check({ file }: StepOptions): Promise<void> {
  unwrap(await verifySnapshot(snapshotSource(file)))
}

async function receive({ url, file }: StepOptions): Promise<void> {
  const store = unwrap(await openStore({ url, log: silentLog }))
  const lease = unwrap(await tryLease({ write: store.write, log: silentLog, holder: 'bench' }))
  unwrap(
    await receiveSnapshot({
      store,
      log: silentLog,
      lease,
      source: snapshotSource(file),
      withProofs: true,
      stopping: undefined,
      confirm: async ({ head }) => ok(head.logId),
    }),
  )
  await store.close()
}
