import { ok, type Result } from '../../lib/result.ts'
import type { RawTx } from '../client.ts'
import type { StoreWriter } from '../contract.ts'
import { type Database, transactionTimeoutMs } from '../database.ts'
import { type HistoryGuard, HistoryRewound } from '../history-guard.ts'
import { addToSnapshot, dropSnapshot, finishSnapshot } from '../ledger-snapshot.ts'
import { newestMigration } from '../migrate.ts'
import type { LogTip } from '../rows.ts'
import type { SerialQueue } from '../serial-queue.ts'
import type { RawWriting, Writing } from '../sql/statements.ts'
import {
  book,
  outputsForBooking,
  pendingBlocks,
  readSlots,
  transactionsForBooking,
} from './book.ts'
import { commitSlots } from './commit.ts'
import { fillActivity, forgetActivity } from './fill-activity.ts'
import { followSlots } from './follow.ts'
import { type Accepted, acceptBlocks, closeSlots } from './inbox.ts'
import { initialize } from './initialize.ts'
import { releaseLease, renewLease, takeLease, underLease } from './lease.ts'
import { pruneLog } from './prune.ts'
import { pruneBlocks } from './prune-blocks.ts'
import { type Appended, publishApart } from './publish.ts'
import { replaceChainRecord, setChainRecord } from './set-chain-record.ts'
import { storeFinalBlocks } from './store-final-blocks.ts'
import { buildTries } from './tries.ts'
import {
  awaitedCounts,
  carriersAwaiting,
  countWaiting,
  releasedCarriers,
  waitingCarriers,
} from './waiting.ts'

/**
 * The writing side of a store. Each call is one transaction on the writer's own client, and calls run one after the other. Without
 * `history`, the tables may be those of an earlier version.
 */
export function createWriter(
  database: WriterDatabase,
  queue: SerialQueue,
  history?: HistoryGuard,
): StoreWriter {
  const calls = createCalls(database, queue, history)
  return {
    ...leaseWrites(calls, newestMigration(database.migrations), history !== undefined),
    ...snapshotWrites(calls),
    ...inboxWrites(calls, history),
    ...slotWrites(calls),
    ...bookingReads(calls),
    ...logWrites(calls, database.statements),
    ...chainRecordWrites(calls),
  }
}

type WriterDatabase = Pick<Database, 'writer' | 'raw' | 'statements' | 'migrations'>

function leaseWrites(
  { transact, transactRaw, recoverAndPublish }: Calls,
  newest: string | undefined,
  hasHistory: boolean,
) {
  return {
    takeLease: async (lease) => {
      const taken = await transact(async (writing) => {
        const term = await takeLease(writing, lease, newest)
        if (term.ok) await writing.sql.shards?.detect(writing.tx)
        return term
      })
      if (taken.ok && hasHistory) await recoverAndPublish()
      return taken
    },
    renewLease: (term, ttlMs) => transactRaw((writing) => renewLease(writing, term, ttlMs)),
    releaseLease: (term) => transact((writing) => releaseLease(writing, term)),
    checkHistory: () => transactRaw(async () => {}),
  } satisfies Partial<StoreWriter>
}

function snapshotWrites({ transactRaw, leased, leasedRaw }: Calls) {
  return {
    initialize: (term, genesis) => transactRaw((writing) => initialize(writing, term, genesis)),
    addToSnapshot: (term, part) => leasedRaw(term, (writing) => addToSnapshot(writing, term, part)),
    finishSnapshot: (term, end) => leased(term, (writing) => finishSnapshot(writing, end)),
    dropSnapshot: (term) => leasedRaw(term, (writing) => dropSnapshot(writing, term)),
  } satisfies Partial<StoreWriter>
}

function inboxWrites({ transact, transactRaw, leasedRaw }: Calls, history?: HistoryGuard) {
  const noted = ({ answers, nextInbox }: Accepted) => {
    history?.recordInbox(nextInbox)
    return answers
  }
  return {
    acceptBlocks: async (blocks) =>
      noted(await transactRaw((writing) => acceptBlocks(writing, blocks))),
    acceptOwnBlocks: async (term, blocks) => {
      const taken = await leasedRaw(
        term,
        async (writing): Promise<Result<Accepted, never>> =>
          ok(await acceptBlocks(writing, blocks)),
      )
      return taken.ok ? ok(noted(taken.value)) : taken
    },
    closeSlots: (term, upTo) => leasedRaw(term, (writing) => closeSlots(writing, upTo)),
    storeFinalBlocks: (blocks) => transact((writing) => storeFinalBlocks(writing, blocks)),
  } satisfies Partial<StoreWriter>
}

function slotWrites({ leasedRaw, published }: Calls) {
  return {
    book: (term, booking) => leasedRaw(term, (writing) => book(writing, term, booking)),
    commitSlots: (term, commits, tries) =>
      published(leasedRaw(term, (writing) => commitSlots(writing, commits, tries))),
    buildTries: (term, build) => leasedRaw(term, (writing) => buildTries(writing, term, build)),
    followSlots: (term, slots) =>
      published(leasedRaw(term, (writing) => followSlots(writing, term, slots))),
  } satisfies Partial<StoreWriter>
}

function bookingReads({ read, readRaw, reading }: Calls) {
  return {
    pendingBlocks: (limit) => readRaw((reading) => pendingBlocks(reading, limit)),
    outputsForBooking: (outputIds) => readRaw((reading) => outputsForBooking(reading, outputIds)),
    transactionsForBooking: (transactionIds) =>
      readRaw((reading) => transactionsForBooking(reading, transactionIds)),
    countWaiting: () => read(countWaiting),
    releasedCarriers: (limit) => read((reading) => releasedCarriers(reading, limit)),
    awaitedCounts: (ids) => read((reading) => awaitedCounts(reading, ids)),
    carriersAwaiting: (ids) => read((reading) => carriersAwaiting(reading, ids)),
    waitingCarriers: (upTo, limit) => read((reading) => waitingCarriers(reading, upTo, limit)),
    // A slot may have any number of pages, and the lease is renewed between them.
    readSlots: (from, to, take) => readSlots(reading, from, to, take),
  } satisfies Partial<StoreWriter>
}

function logWrites(
  { transact, transactRaw, leased, readRaw }: Calls,
  { partitions }: WriterDatabase['statements'],
) {
  return {
    pruneLog: (request) => transact((writing) => pruneLog(writing, request)),
    extendLog: async () => {
      if (partitions === undefined || !(await readRaw(({ tx }) => partitions.isNextMissing(tx))))
        return
      await transactRaw(({ tx }) => partitions.createNext(tx))
    },
    pruneBlocks: (request) => transact((writing) => pruneBlocks(writing, request)),
    fillActivity: (term, request) => leased(term, (writing) => fillActivity(writing, request)),
    forgetActivity: (term) => leased(term, (writing) => forgetActivity(writing, term)),
  } satisfies Partial<StoreWriter>
}

function chainRecordWrites({ transact }: Calls) {
  return {
    setChainRecord: (record) => transact((writing) => setChainRecord(writing, record)),
    replaceChainRecord: (record, version) =>
      transact((writing) => replaceChainRecord(writing, record, version)),
  } satisfies Partial<StoreWriter>
}

/** Calls on the connection of the writer, one at a time. */
type Calls = ReturnType<typeof createCalls>

function createCalls(
  database: WriterDatabase,
  queue: SerialQueue,
  history: HistoryGuard | undefined,
) {
  const { writer: client, raw, statements: sql } = database
  const guarded = guardedBy(sql, history)
  const { publishDue, publishNow, noteFailure, recoverAndPublish } = createPublication({
    raw,
    sql,
    guarded,
    queue,
  })

  function transact<T>(work: (writing: Writing) => Promise<T>): Promise<T> {
    const all = guarded(work, (tx) => ({ tx, sql }))
    return queue.take(async () => {
      await publishDue()
      const done = client.$transaction(all, { timeout: transactionTimeoutMs })
      return doneOf(await noteFailure(done))
    })
  }

  /** The same with raw statements only, which cost less processor time. */
  function transactRaw<T>(work: (writing: RawWriting) => Promise<T>): Promise<T> {
    const all = guarded(work, (tx) => ({ tx, sql }))
    return queue.take(async () => {
      await publishDue()
      return doneOf(await noteFailure(raw.transact(all)))
    })
  }

  type LeasedWork<W, T, E> = (writing: W) => Promise<Result<T, E>>
  /** A transaction that writes only if the caller still holds the lease. */
  const leased = <T, E>(term: number, work: LeasedWork<Writing, T, E>) =>
    transact((writing) => underLease(writing, term, () => work(writing)))
  const leasedRaw = <T, E>(term: number, work: LeasedWork<RawWriting, T, E>) =>
    transactRaw((writing) => underLease(writing, term, () => work(writing)))

  /** Resolves to the tip after a commit, once readers see it. */
  async function published<E>(commit: Promise<Result<Appended, E>>): Promise<Result<LogTip, E>> {
    const done = await commit
    if (!done.ok) return done
    const { tip, isPublished } = done.value
    history?.recordTip(tip)
    if (!isPublished) await publishNow()
    return ok(tip)
  }

  /** Reads outside of a transaction, after all earlier writes. */
  const read = <T>(work: (reading: Writing) => Promise<T>) =>
    queue.take(() => work({ tx: client, sql }))
  const readRaw = <T>(work: (reading: RawWriting) => Promise<T>) =>
    queue.take(() => work({ tx: raw, sql }))
  /** The same for a long read: each statement waits for its own turn, so that writes run in between. */
  const reading: RawWriting = { tx: turnByTurn(raw, queue), sql }

  const reads = { read, readRaw, reading }
  return { transact, transactRaw, leased, leasedRaw, ...reads, published, recoverAndPublish }
}

/** Wraps statements so that each of them waits for earlier writes. */
function turnByTurn(raw: RawTx, queue: SerialQueue): RawTx {
  return {
    $executeRawUnsafe: (...statement) => queue.take(() => raw.$executeRawUnsafe(...statement)),
    $queryRawUnsafe: (...statement) => queue.take(() => raw.$queryRawUnsafe(...statement)),
  }
}

/** Makes the work of transactions. It resolves to the outcome, or to the reason why the history of the database forbids the write. */
function guardedBy(sql: WriterDatabase['statements'], history: HistoryGuard | undefined) {
  return <W extends RawWriting, T>(
    work: (writing: W) => Promise<T>,
    writingOf: (tx: W['tx']) => W,
  ) =>
    async (tx: W['tx']): Promise<{ done: T } | HistoryRewound> => {
      const writing = writingOf(tx)
      if (history === undefined) await sql.beginWriting(tx)
      if (sql.shards?.isKnown() === false) await sql.shards.detect(tx)
      return (await history?.begin(writing)) ?? { done: await work(writing) }
    }
}

interface PublicationDeps extends Pick<WriterDatabase, 'raw'> {
  readonly sql: WriterDatabase['statements']
  readonly guarded: ReturnType<typeof guardedBy>
  readonly queue: SerialQueue
}

/** Publishes committed slots that readers do not see yet. */
function createPublication({ raw, sql, guarded, queue }: PublicationDeps) {
  /** Whether committed slots may be unpublished, because the outcome of a publication is unknown. */
  let isPublicationDue = false

  /** Whether shards of the log may hold a prepared transaction that is neither committed nor rolled back. */
  let isRecoveryDue = false

  /** Rethrows the failure of a transaction. After a failure the content of the shards is unknown. */
  async function noteFailure<T>(transaction: Promise<T>): Promise<T> {
    try {
      return await transaction
    } catch (failure) {
      if (sql.shards?.isOn() === true) {
        isRecoveryDue = true
        isPublicationDue = true
      }
      throw failure
    }
  }

  /** Publishes slots of earlier transactions before the next one begins. Call it in a turn of the queue. */
  async function publishDue(): Promise<void> {
    if (!isPublicationDue) return
    if (isRecoveryDue) await sql.shards?.recover(raw)
    isRecoveryDue = sql.shards?.isOn() === true
    doneOf(await raw.transact(guarded(publishApart, (tx) => ({ tx, sql }))))
    isPublicationDue = false
    isRecoveryDue = false
  }

  function publishNow(): Promise<void> {
    isPublicationDue = true
    return queue.take(publishDue)
  }

  /** Called at the beginning of a term: completes what the former term left unfinished. */
  function recoverAndPublish(): Promise<void> {
    isRecoveryDue = sql.shards?.isOn() === true
    return publishNow()
  }

  return { noteFailure, publishDue, publishNow, recoverAndPublish }
}

function doneOf<T>(outcome: { done: T } | HistoryRewound): T {
  if (outcome instanceof HistoryRewound) throw outcome
  return outcome.done
}
