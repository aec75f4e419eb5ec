import { ok, type Result } from '../lib/result.ts'
import {
  book,
  outputsForBooking,
  pendingBlocks,
  readSlots,
  transactionsForBooking,
} from './book.ts'
import { commitSlots } from './commit.ts'
import type { StoreWriter } from './contract.ts'
import { type Database, transactionTimeoutMs } from './database.ts'
import { fillActivity, forgetActivity } from './fill-activity.ts'
import { followSlots } from './follow.ts'
import { type HistoryGuard, HistoryRewound } from './history.ts'
import { type Accepted, acceptBlocks, closeSlots } from './inbox.ts'
import { initialize } from './initialize.ts'
import { keepFinal } from './keep-final.ts'
import { releaseLease, renewLease, takeLease, underLease } from './lease.ts'
import { addToSnapshot, dropSnapshot, finishSnapshot } from './ledger-snapshot.ts'
import { newestMigration } from './migrate.ts'
import { pruneLog } from './prune.ts'
import { pruneBlocks } from './prune-blocks.ts'
import { type Appended, publishApart } from './publish.ts'
import type { LogTip } from './rows.ts'
import type { SerialQueue } from './serial-queue.ts'
import { replaceChainRecord, setChainRecord } from './set-chain-record.ts'
import type { RawWriting, Writing } from './sql/statements.ts'
import { buildTries } from './tries.ts'
import {
  awaitedCounts,
  carriersAwaiting,
  countWaiting,
  releasedCarriers,
  waitingCarriers,
} from './waiting.ts'

/**
 * The writing side: each call is one transaction on the writer's own client, one after the other. Without a history to compare, the
 * tables may be those of an earlier version.
 */
export function createWriter(
  database: WriterDatabase,
  turns: SerialQueue,
  history?: HistoryGuard,
): StoreWriter {
  const { transact, transactRaw, look, lookRaw, published, recoverAndPublish } = turnsOf(
    database,
    turns,
    history,
  )
  const newest = newestMigration(database.migrations)
  const placed = ({ answers, nextInbox }: Accepted) => {
    history?.sawInbox(nextInbox)
    return answers
  }
  return {
    takeLease: async (lease) => {
      const taken = await transact(async (writing) => {
        const term = await takeLease(writing, lease, newest)
        if (term.ok) await writing.sql.shards?.look(writing.tx)
        return term
      })
      if (taken.ok && history !== undefined) await recoverAndPublish()
      return taken
    },
    renewLease: (term, ttlMs) => transactRaw((writing) => renewLease(writing, term, ttlMs)),
    releaseLease: (term) => transact((writing) => releaseLease(writing, term)),
    initialize: (term, genesis) => transactRaw((writing) => initialize(writing, term, genesis)),
    addToSnapshot: (term, part) =>
      transactRaw((writing) => underLease(writing, term, () => addToSnapshot(writing, term, part))),
    finishSnapshot: (term, end) =>
      transact((writing) => underLease(writing, term, () => finishSnapshot(writing, term, end))),
    dropSnapshot: (term) =>
      transactRaw((writing) => underLease(writing, term, () => dropSnapshot(writing, term))),
    checkHistory: () => transactRaw(async () => {}),
    acceptBlocks: async (blocks) =>
      placed(await transactRaw((writing) => acceptBlocks(writing, blocks))),
    acceptOwnBlocks: async (term, blocks) => {
      const taken = await transactRaw((writing) =>
        underLease(
          writing,
          term,
          async (): Promise<Result<Accepted, never>> => ok(await acceptBlocks(writing, blocks)),
        ),
      )
      return taken.ok ? ok(placed(taken.value)) : taken
    },
    closeSlots: (term, upTo) =>
      transactRaw((writing) => underLease(writing, term, () => closeSlots(writing, term, upTo))),
    book: (term, booking) =>
      transactRaw((writing) => underLease(writing, term, () => book(writing, term, booking))),
    commitSlots: (term, commits, tries) =>
      published(
        transactRaw((writing) =>
          underLease(writing, term, () => commitSlots(writing, commits, tries)),
        ),
      ),
    buildTries: (term, build) =>
      transactRaw((writing) => underLease(writing, term, () => buildTries(writing, term, build))),
    followSlots: (term, slots) =>
      published(
        transactRaw((writing) =>
          underLease(writing, term, () => followSlots(writing, term, slots)),
        ),
      ),
    keepFinal: (blocks) => transact((writing) => keepFinal(writing, blocks)),
    pendingBlocks: (limit) => lookRaw((reading) => pendingBlocks(reading, limit)),
    outputsForBooking: (outputIds) => lookRaw((reading) => outputsForBooking(reading, outputIds)),
    transactionsForBooking: (transactionIds) =>
      lookRaw((reading) => transactionsForBooking(reading, transactionIds)),
    countWaiting: () => look(countWaiting),
    releasedCarriers: (limit) => look((reading) => releasedCarriers(reading, limit)),
    awaitedCounts: (ids) => look((reading) => awaitedCounts(reading, ids)),
    carriersAwaiting: (ids) => look((reading) => carriersAwaiting(reading, ids)),
    waitingCarriers: (upTo, limit) => look((reading) => waitingCarriers(reading, upTo, limit)),
    readSlots: (from, to, take) => lookRaw((reading) => readSlots(reading, from, to, take)),
    pruneLog: (request) => transact((writing) => pruneLog(writing, request)),
    extendLog: async () => {
      const { partitions } = database.statements
      if (partitions === undefined || !(await lookRaw(({ tx }) => partitions.isRoomShort(tx))))
        return
      await transactRaw(({ tx }) => partitions.makeNext(tx))
    },
    pruneBlocks: (request) => transact((writing) => pruneBlocks(writing, request)),
    fillActivity: (term, request) =>
      transact((writing) => underLease(writing, term, () => fillActivity(writing, request))),
    forgetActivity: (term) =>
      transact((writing) => underLease(writing, term, () => forgetActivity(writing, term))),
    setChainRecord: (record) => transact((writing) => setChainRecord(writing, record)),
    replaceChainRecord: (record, version) =>
      transact((writing) => replaceChainRecord(writing, record, version)),
  }
}

type WriterDatabase = Pick<Database, 'writer' | 'raw' | 'statements' | 'migrations'>

/** How calls take their turns on the connection of the writer. */
function turnsOf(
  { writer: client, raw, statements: sql }: WriterDatabase,
  turns: SerialQueue,
  history: HistoryGuard | undefined,
) {
  /** Whether slots may be committed that readers do not see: whether a publication succeeded was never learnt. */
  let isPublicationDue = false

  /** Whether something may be prepared in shards of the log that is neither committed nor rolled back. */
  let isRecoveryDue = false

  /** The outcome of a transaction, or why the history of the database forbids it. */
  const whole =
    <W extends RawWriting, T>(work: (writing: W) => Promise<T>, writingOf: (tx: W['tx']) => W) =>
    async (tx: W['tx']): Promise<{ done: T } | HistoryRewound> => {
      const writing = writingOf(tx)
      if (history === undefined) await sql.beginWriting(tx)
      if (sql.shards?.isKnown() === false) await sql.shards.look(tx)
      return (await history?.begin(writing)) ?? { done: await work(writing) }
    }

  function transact<T>(work: (writing: Writing) => Promise<T>): Promise<T> {
    const all = whole(work, (tx) => ({ tx, sql }))
    return turns.take(async () => {
      await publishDue()
      return doneOf(await noted(client.$transaction(all, { timeout: transactionTimeoutMs })))
    })
  }

  /** The same in raw statements alone, which cost the program less. */
  function transactRaw<T>(work: (writing: RawWriting) => Promise<T>): Promise<T> {
    const all = whole(work, (tx) => ({ tx, sql }))
    return turns.take(async () => {
      await publishDue()
      return doneOf(await noted(raw.transact(all)))
    })
  }

  /** After a failure it is not known what the shards have. */
  async function noted<T>(transaction: Promise<T>): Promise<T> {
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

  async function publishDue(): Promise<void> {
    if (!isPublicationDue) return
    if (isRecoveryDue) await sql.shards?.recover(raw)
    isRecoveryDue = sql.shards?.isOn() === true
    doneOf(await raw.transact(whole(publishApart, (tx) => ({ tx, sql }))))
    isPublicationDue = false
    isRecoveryDue = false
  }

  function publishNow(): Promise<void> {
    isPublicationDue = true
    return turns.take(publishDue)
  }

  /** At the beginning of a term, after whatever the former one left. */
  function recoverAndPublish(): Promise<void> {
    isRecoveryDue = sql.shards?.isOn() === true
    return publishNow()
  }

  /** The tip that a commit leads to, once readers see it. */
  async function published<E>(commit: Promise<Result<Appended, E>>): Promise<Result<LogTip, E>> {
    const done = await commit
    if (!done.ok) return done
    const { tip, isPublished } = done.value
    history?.saw(tip)
    if (!isPublished) await publishNow()
    return ok(tip)
  }

  /** A read beside the writes, as of all former ones. */
  function look<T>(work: (writing: Writing) => Promise<T>): Promise<T> {
    return turns.take(() => work({ tx: client, sql }))
  }

  function lookRaw<T>(work: (writing: RawWriting) => Promise<T>): Promise<T> {
    return turns.take(() => work({ tx: raw, sql }))
  }

  return { transact, transactRaw, look, lookRaw, published, recoverAndPublish }
}

function doneOf<T>(outcome: { done: T } | HistoryRewound): T {
  if (outcome instanceof HistoryRewound) throw outcome
  return outcome.done
}
