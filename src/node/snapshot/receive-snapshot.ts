import { setTimeout as delay } from 'node:timers/promises'
import { type KeyValue, trieRootOf } from '../../ledger/trie-root.ts'
import { assert } from '../../lib/assert.ts'
import { type Hex, hexToBytes } from '../../lib/hex.ts'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import type { AccountId, OutputId } from '../../protocol/primitives.ts'
import type { LeaseLost, Store } from '../../store/contract.ts'
import { type Lease, leaseRenewalMs } from '../lease.ts'
import {
  accountEntries,
  type CheckedHead,
  checkHead,
  checkRoots,
  createLineReader,
  type LineReader,
  outputEntries,
  type ReadBefore,
} from './check-snapshot.ts'
import type {
  SnapshotAway,
  SnapshotInterrupted,
  SnapshotInvalid,
  SnapshotRootDiffers,
} from './snapshot-errors.ts'
import { parsePart, parsePosition, positionText, type SnapshotPart } from './snapshot-format.ts'
import { SnapshotCut, SnapshotGone, type SnapshotSource } from './snapshot-source.ts'

/**
 * Begins a database with a snapshot. Its rows are written as they come, each line in a transaction with the place where it ends,
 * so that an interrupted transfer goes on there; the roots are computed of what is in the database.
 */

/** What receiving needs. */
export interface ReceiveDeps<E> {
  readonly store: Pick<Store, 'read' | 'write'>
  readonly log: Log
  readonly lease: Lease
  readonly source: SnapshotSource
  /** Whether the contents of each output are held against its proof. */
  readonly withProofs: boolean
  /** Ends the transfer between two lines. */
  readonly stopping: AbortSignal | undefined
  /** Holds the head against what the followed nodes have, and gives the id of the log. */
  confirm(head: CheckedHead): Promise<Result<Hex, E>>
}

/** Why the database did not begin. */
export type ReceiveError = SnapshotInvalid | SnapshotAway | SnapshotInterrupted | LeaseLost

/** Receives what is missing, proves the whole, and begins the log. What cannot become a ledger is removed again. */
export async function receiveSnapshot<E extends { readonly code: string }>(
  deps: ReceiveDeps<E>,
): Promise<Result<undefined, ReceiveError | E>> {
  const done = await receiveAndProve(deps)
  if (!done.ok && !resumable.includes(done.error.code)) {
    await deps.store.write.dropSnapshot(deps.lease.term)
  }
  return done
}

/** What came before one of these is as it should be. */
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
  const received = await receive(deps)
  if (!received.ok) return received
  const { head, network, milestones } = received.value
  const confirmed = await deps.confirm(received.value)
  if (!confirmed.ok) return confirmed
  log.info('snapshot-proving', { slot: head.slot })
  const differs = await proveRoots(deps, received.value)
  if (differs !== undefined) return err(differs)
  const begun = await store.write.finishSnapshot(lease.term, {
    network: { logId: confirmed.value, parameters: hexToBytes(head.parameters) },
    milestones,
  })
  if (!begun.ok) return begun
  log.info('snapshot-received', { slot: head.slot, network: network.parameters.networkName })
  return ok(undefined)
}

/** Receives all lines, from wherever a former transfer ended. */
async function receive<E extends object>(
  deps: ReceiveDeps<E>,
): Promise<Result<CheckedHead, ReceiveError | E>> {
  const { store, lease, source, log } = deps
  let reader = createLineReader(deps, await readBefore(deps))
  const report = createReport(log)
  for (let failures = 0; ; ) {
    const from = reader.position()
    if (from !== undefined) log.info('snapshot-resumed', { slot: from.slot, at: from.section })
    const transfer = await transferLines(deps, reader, report)
    if (transfer.ok) return transfer
    const { error } = transfer
    if (!('failure' in error)) return err(error)
    const { failure } = error
    if (failure instanceof SnapshotGone && from !== undefined) {
      log.warn('snapshot-begun-anew', { reason: failure.message })
      const dropped = await store.write.dropSnapshot(lease.term)
      if (!dropped.ok) return dropped
      reader = createLineReader(deps)
      continue
    }
    failures = reader.position() === from ? failures + 1 : 1
    if (!source.isRemote || failures > mostFailures) {
      const isCut = failure instanceof SnapshotCut
      return err(isCut ? reader.endedEarly() : { code: 'SNAPSHOT_AWAY', reason: failure.message })
    }
    log.warn('snapshot-cut', { reason: failure.message })
    const renewed = await lease.renew()
    if (!renewed.ok) return renewed
    await delay(retryMs)
  }
}

/** The pause before an interrupted transfer goes on; the lease outlasts it. */
const retryMs = 250

/** A gateway that gives nothing for so many times in a row is away. */
const mostFailures = 40

/** What the other side failed by. */
interface TransferFailed {
  readonly failure: Error
}

/** Takes the lines of one transfer, until the snapshot ends. */
async function transferLines<E extends object>(
  deps: ReceiveDeps<E>,
  reader: LineReader,
  report: (part: SnapshotPart, reader: LineReader) => void,
): Promise<Result<CheckedHead, ReceiveError | E | TransferFailed>> {
  const { source, lease, stopping } = deps
  const lines = source.lines(reader.position())[Symbol.asyncIterator]()
  const keep = createKeeper(lease)
  try {
    for (;;) {
      if (stopping?.aborted) return err({ code: 'SNAPSHOT_INTERRUPTED' })
      const next = await nextOf(lines)
      if (!next.ok) return next
      if (next.value === undefined) return err({ failure: new SnapshotCut() })
      const part = reader.take(next.value)
      if (!part.ok) return part
      const head = reader.head()
      assert(head !== undefined, 'there is a head behind the first line')
      if (part.value.section === 'end') return ok(head)
      const kept = await keep()
      if (!kept.ok) return kept
      const written = await writePart(deps, reader, head, part.value)
      if (!written.ok) return written
      report(part.value, reader)
    }
  } finally {
    await lines.return?.().catch(() => {})
  }
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

async function writePart<E>(
  { store, lease, confirm }: ReceiveDeps<E>,
  reader: LineReader,
  { head, network }: CheckedHead,
  part: Exclude<SnapshotPart, { readonly section: 'end' }>,
): Promise<Result<unknown, LeaseLost | E>> {
  const checked = reader.head()
  const position = reader.position()
  assert(checked !== undefined && position !== undefined, 'a part has a position')
  if (part.section === 'head') {
    const confirmed = await confirm(checked)
    if (!confirmed.ok) return confirmed
  }
  return store.write.addToSnapshot(lease.term, {
    progress: { head: JSON.stringify(head), position: positionText(position) },
    slot: head.slot,
    parameters: network.parameters,
    outputs: part.section === 'outputs' ? part.rows : [],
    accounts: part.section === 'accounts' ? part.rows : [],
    tips: part.section === 'tips' ? part.rows : [],
  })
}

/** What a former transfer left in the database. */
async function readBefore<E>({ store }: ReceiveDeps<E>): Promise<ReadBefore | undefined> {
  const received = await store.read.snapshotProgress()
  if (received === undefined) return undefined
  const part = parsePart(received.head)
  const head = part?.section === 'head' ? checkHead(part.head) : undefined
  const position = parsePosition(received.position)
  assert(head !== undefined && !('code' in head), 'a stored head was checked')
  assert(position !== undefined, 'a stored position is one')
  return { head, position, baseTokens: received.baseTokens }
}

/** Computes both roots of what is in the database. */
async function proveRoots<E>(
  { store, lease }: ReceiveDeps<E>,
  { head }: CheckedHead,
): Promise<SnapshotRootDiffers | undefined> {
  const keep = createKeeper(lease)
  const { read } = store

  async function* outputs(): AsyncGenerator<Iterable<KeyValue>> {
    for (let after: OutputId | undefined; ; ) {
      const page = await read.unspentPage(after)
      after = page.at(-1)?.outputId
      if (after === undefined) return
      await keep()
      yield outputEntries(page.map(({ outputId }) => outputId))
    }
  }

  async function* accounts(): AsyncGenerator<Iterable<KeyValue>> {
    for (let after: AccountId | undefined; ; ) {
      const page = await read.accountsAt(head.slot, after)
      after = page.at(-1)?.accountId
      if (after === undefined) return
      await keep()
      yield accountEntries(page)
    }
  }

  const computed = { state: await trieRootOf(outputs), accounts: await trieRootOf(accounts) }
  return checkRoots(head, computed)
}

/** Renews the lease now and then; what is written without it is refused. */
function createKeeper(lease: Lease): () => Promise<Result<unknown, LeaseLost>> {
  let renewed = performance.now()
  return async () => {
    if (performance.now() - renewed < leaseRenewalMs) return ok(undefined)
    renewed = performance.now()
    return lease.renew()
  }
}

/** Logs now and then how much is here. Ids of transactions are hashes, so that the first digits of an id show how far it is. */
function createReport(log: Log) {
  let loggedAt = performance.now()
  let rows = 0
  return (part: SnapshotPart, reader: LineReader): void => {
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
