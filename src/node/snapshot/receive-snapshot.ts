import { setTimeout as delay } from 'node:timers/promises'
import { accountEntries } from '../../ledger/trie-entries.ts'
import type { KeyValue } from '../../ledger/trie-pass.ts'
import { trieRootOf } from '../../ledger/trie-root.ts'
import { assert } from '../../lib/assert.ts'
import { type Hex, hexToBytes } from '../../lib/hex.ts'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { AccountId, OutputId } from '../../protocol/primitives.ts'
import type { LeaseLost } from '../../store/contract/lease.ts'
import type { Store } from '../../store/contract.ts'
import { reasonOf } from '../../store/unusable.ts'
import { type Lease, leaseRenewalMs } from '../lease.ts'
import {
  type CheckedHead,
  type CheckedPart,
  checkHead,
  checkRoots,
  createLineReader,
  type LineReader,
  type ResumePoint,
} from './check-snapshot.ts'
import { openProofThread, type ProofThread } from './proof-thread.ts'
import type {
  SnapshotAway,
  SnapshotInterrupted,
  SnapshotInvalid,
  SnapshotRootDiffers,
} from './snapshot-errors.ts'
import { parsePart, parsePosition } from './snapshot-format.ts'
import { invalidBy, SnapshotCut, SnapshotGone, type SnapshotSource } from './snapshot-source.ts'
import { createRowsWriter, type RowsWriter } from './write-rows.ts'

/**
 * Initializes a database from a snapshot. Rows are written as they arrive, with the position after them, so that an interrupted
 * transfer resumes there. Another thread proves the rows meanwhile and computes the state root: from the lines, or from the database
 * if an earlier process received some of them.
 */

export interface ReceiveDeps<E> {
  readonly store: Pick<Store, 'read' | 'write'>
  readonly log: Log
  readonly lease: Lease
  readonly source: SnapshotSource
  /** Whether the content of each output is checked against its proof. */
  readonly withProofs: boolean
  /** Aborts the transfer between two lines. */
  readonly stopping: AbortSignal | undefined
  /** Checks the head against the followed nodes, and returns the log id. */
  confirm(head: CheckedHead): Promise<Result<Hex, E>>
}

/** Why the database could not be initialized. */
export type ReceiveError = SnapshotInvalid | SnapshotAway | SnapshotInterrupted | LeaseLost

/** Receives the missing rows, proves the snapshot, and starts the log. Removes rows that cannot become a ledger. */
export async function receiveSnapshot<E extends { readonly code: string }>(
  deps: ReceiveDeps<E>,
): Promise<Result<undefined, ReceiveError | E>> {
  const done = await receiveAndProve(deps)
  if (!done.ok && !isResumable(done.error)) {
    await deps.store.write.dropSnapshot(deps.lease.term)
  }
  return done
}

/** Whether the received rows stay valid, so that a later transfer can resume. */
function isResumable(error: { readonly code: string; readonly served?: unknown }): boolean {
  // The node may lag, or have replaced another one that had the commitment.
  const isNotServed = error.code === 'SNAPSHOT_COMMITMENT_DIFFERS' && error.served === undefined
  return isNotServed || resumable.includes(error.code)
}

const resumable: readonly string[] = [
  'SNAPSHOT_AWAY',
  'SNAPSHOT_INTERRUPTED',
  'SNAPSHOT_ENDED_EARLY',
  'SNAPSHOT_DAMAGED',
  'SNAPSHOT_MALFORMED',
  'LEASE_LOST',
  'NODES_AWAY',
  'NODE_ANSWER_UNREADABLE',
]

async function receiveAndProve<E extends object>(
  deps: ReceiveDeps<E>,
): Promise<Result<undefined, ReceiveError | E>> {
  const { store, lease, log } = deps
  const reception = createReception(deps, await storedResumePoint(deps))
  try {
    const received = await receive(deps, reception)
    if (!received.ok) return received
    const { head, network, milestones } = received.value
    const confirmed = await deps.confirm(received.value)
    if (!confirmed.ok) return confirmed
    log.info('snapshot-proving', { slot: head.slot })
    const differs = await proveRoots(deps, received.value, reception.proofs())
    if (differs !== undefined) return err(differs)
    const begun = await store.write.finishSnapshot(lease.term, {
      network: { logId: confirmed.value, parameters: hexToBytes(head.parameters) },
      milestones,
    })
    if (!begun.ok) return begun
    log.info('snapshot-received', { slot: head.slot, network: network.parameters.networkName })
    return ok(undefined)
  } finally {
    await reception.proofs().close()
  }
}

/** The receiver of the lines of a snapshot: a reader, and a thread that proves the lines that the reader accepts. */
type Reception = ReturnType<typeof createReception>

function createReception<E>({ withProofs }: ReceiveDeps<E>, from: ResumePoint | undefined) {
  const threadFor = (isWhole: boolean) =>
    openProofThread({ withProofs, isWhole, maxEntries: undefined })
  let reader = createLineReader({ withProofs: false }, from)
  let proofs = threadFor(from === undefined)

  /** Discards the lines so far. */
  async function restart(): Promise<void> {
    await proofs.close()
    reader = createLineReader({ withProofs: false })
    proofs = threadFor(true)
  }

  return { reader: () => reader, proofs: () => proofs, restart }
}

/** Receives all lines, from the point where an earlier transfer ended. Retries a remote source. */
async function receive<E extends object>(
  deps: ReceiveDeps<E>,
  reception: Reception,
): Promise<Result<CheckedHead, ReceiveError | E>> {
  const { store, lease, source, log } = deps
  const report = createReport(log)
  for (let failures = 0; ; ) {
    const reader = reception.reader()
    const from = reader.position()
    if (from !== undefined) log.info('snapshot-resumed', { slot: from.slot, at: from.section })
    const transfer = await transferLines(deps, reception, report)
    if (transfer.ok) return transfer
    const { error } = transfer
    if (!('failure' in error)) return err(error)
    const { failure } = error
    if (failure instanceof SnapshotGone && from !== undefined) {
      log.warn('snapshot-begun-anew', { reason: failure.message })
      const dropped = await store.write.dropSnapshot(lease.term)
      if (!dropped.ok) return dropped
      await reception.restart()
      continue
    }
    const invalid = invalidBy(failure)
    if (invalid !== undefined) return err(invalid)
    failures = reader.position() === from ? failures + 1 : 1
    if (!source.isRemote || failures > maxFailures) {
      const isCut = failure instanceof SnapshotCut
      return err(isCut ? reader.endedEarly() : { code: 'SNAPSHOT_AWAY', reason: reasonOf(failure) })
    }
    log.warn('snapshot-cut', { reason: reasonOf(failure) })
    const renewed = await lease.renew()
    if (!renewed.ok) return renewed
    await delay(retryMs)
  }
}

/** Milliseconds before an interrupted transfer resumes. The lease outlasts this pause. */
const retryMs = 250

/** Number of consecutive attempts without a new line after which a gateway counts as unreachable. */
const maxFailures = 40

/** The failure of the source. */
interface TransferFailed {
  readonly failure: Error
}

/** Receives lines until the snapshot or the source ends. Writes the valid lines in either case. */
async function transferLines<E extends object>(
  deps: ReceiveDeps<E>,
  reception: Reception,
  report: (part: CheckedPart, reader: LineReader) => void,
): Promise<Result<CheckedHead, ReceiveError | E | TransferFailed>> {
  const reader = reception.reader()
  const rows = createRowsWriter({ ...deps, reader })
  const received = await receiveLines(deps, { reader, proofs: reception.proofs(), rows, report })
  const written = await rows.end()
  return written.ok ? received : written
}

interface Transfer {
  readonly reader: LineReader
  readonly proofs: ProofThread
  readonly rows: RowsWriter
  report(part: CheckedPart, reader: LineReader): void
}

async function receiveLines<E extends object>(
  { source, stopping, confirm }: ReceiveDeps<E>,
  { reader, proofs, rows, report }: Transfer,
): Promise<Result<CheckedHead, ReceiveError | E | TransferFailed>> {
  const lines = source.lines(reader.position())[Symbol.asyncIterator]()
  try {
    for (;;) {
      if (stopping?.aborted) return err({ code: 'SNAPSHOT_INTERRUPTED' })
      const next = await nextOf(lines)
      if (!next.ok) return next
      if (next.value === undefined) return err({ failure: new SnapshotCut() })
      const part = await reader.take(next.value)
      if (!part.ok) return err((await unprovedBehind(part.error, proofs, next.value)) ?? part.error)
      const head = reader.head()
      assert(head !== undefined, 'there is a head after the first line')
      if (part.value.section === 'end') return ok(head)
      if (part.value.section === 'head') {
        const confirmed = await confirm(head)
        if (!confirmed.ok) return confirmed
      }
      const unproved =
        part.value.section === 'outputs' ? proofs.unprovedIn(next.value) : noneUnproved
      const added = await rows.add(part.value, unproved)
      if (!added.ok) return added
      report(part.value, reader)
    }
  } finally {
    await lines.return?.().catch(() => {})
  }
}

const noneUnproved = Promise.resolve(undefined)

/** An output with a wrong amount causes a wrong sum: returns the output that fails its proof instead of the sum. */
async function unprovedBehind(
  { code }: SnapshotInvalid,
  proofs: ProofThread,
  line: string,
): Promise<SnapshotInvalid | undefined> {
  if (code !== 'SNAPSHOT_SUPPLY_DIFFERS') return undefined
  const outputId = await proofs.unprovedIn(line)
  return outputId && { code: 'SNAPSHOT_OUTPUT_UNPROVED', outputId }
}

async function nextOf(
  lines: AsyncIterator<string>,
): Promise<Result<string | undefined, TransferFailed>> {
  try {
    const { done, value } = await lines.next()
    return ok(done === true ? undefined : value)
  } catch (failure) {
    return err({ failure: failure instanceof Error ? failure : new Error(String(failure)) })
  }
}

/** The resume point that an earlier transfer stored in the database. */
async function storedResumePoint<E>({ store }: ReceiveDeps<E>): Promise<ResumePoint | undefined> {
  const received = await store.read.snapshotProgress()
  if (received === undefined) return undefined
  const part = parsePart(received.head)
  const head = part?.section === 'head' ? checkHead(part.head) : undefined
  const position = parsePosition(received.position)
  assert(head !== undefined && !('code' in head), 'a stored head was checked')
  assert(position !== undefined, 'a stored position is well-formed')
  return { head, position, baseTokens: received.baseTokens }
}

/** Checks both roots of the received rows against the head. */
async function proveRoots<E>(
  { store, lease }: ReceiveDeps<E>,
  { head }: CheckedHead,
  proofs: ProofThread,
): Promise<SnapshotRootDiffers | undefined> {
  const { read } = store

  async function* outputIds(): AsyncGenerator<readonly OutputId[]> {
    for (let after: OutputId | undefined; ; ) {
      const page = await read.unspentPage(after)
      after = page.at(-1)?.outputId
      if (after === undefined) return
      yield page.map(({ outputId }) => outputId)
    }
  }

  async function* accounts(): AsyncGenerator<Iterable<KeyValue>> {
    for (let after: AccountId | undefined; ; ) {
      const page = await read.accountsAt(head.slot, after)
      if (page === undefined) return
      yield accountEntries(page.accounts)
      after = page.last
    }
  }

  const state = await whileRenewing(lease, proofs.stateRoot(outputIds))
  return checkRoots(head, { state, accounts: await whileRenewing(lease, trieRootOf(accounts)) })
}

/** Renews the lease while some work lasts. Writes without the lease are refused. */
async function whileRenewing<T>(lease: Lease, work: Promise<T>): Promise<T> {
  const isOver = work.then(
    () => true,
    () => true,
  )
  const later = () => delay(leaseRenewalMs, false, { ref: false })
  while (!(await Promise.race([isOver, later()]))) await lease.renew()
  return work
}

/** Logs the progress every `reportMs`. Ids are hashes, so that the first digits of an id show the progress. */
function createReport(log: Log) {
  let loggedAt = performance.now()
  let rows = 0
  return (part: CheckedPart, reader: LineReader): void => {
    if ('rows' in part) rows += part.rows.length
    if (performance.now() < loggedAt + reportMs) return
    loggedAt = performance.now()
    const after = reader.position()?.after ?? '0x'
    const percent = Math.floor(
      (100 * Number.parseInt(after.slice(2, 6).padEnd(4, '0'), 16)) / 65_536,
    )
    const isOfIds = part.section === 'outputs' || part.section === 'accounts'
    log.info('snapshot-receiving', { part: part.section, rows, ...(isOfIds && { percent }) })
  }
}

const reportMs = 5_000
