import { ok } from '../lib/result.ts'
import {
  book,
  outputsForBooking,
  pendingBlocks,
  slotContents,
  transactionsForBooking,
} from './book.ts'
import { commitSlots } from './commit.ts'
import type { StoreWriter } from './contract.ts'
import { type Database, transactionTimeoutMs } from './database.ts'
import { fillActivity, forgetActivity } from './fill-activity.ts'
import { followSlots } from './follow.ts'
import { acceptBlocks, closeSlots } from './inbox.ts'
import { initialize } from './initialize.ts'
import { keepFinal } from './keep-final.ts'
import { releaseLease, renewLease, takeLease, underLease } from './lease.ts'
import { addToSnapshot, dropSnapshot, finishSnapshot } from './ledger-snapshot.ts'
import { newestMigration } from './migrate.ts'
import { pruneLog } from './prune.ts'
import { pruneBlocks } from './prune-blocks.ts'
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

/** The writing side: each call is one transaction on the writer's own client, one after the other. */
export function createWriter(database: WriterDatabase, turns: SerialQueue): StoreWriter {
  const { transact, transactRaw, look, lookRaw } = turnsOf(database, turns)
  const newest = newestMigration(database.migrations)
  return {
    takeLease: (lease) => transact((writing) => takeLease(writing, lease, newest)),
    renewLease: (term, ttlMs) => transactRaw((writing) => renewLease(writing, term, ttlMs)),
    releaseLease: (term) => transact((writing) => releaseLease(writing, term)),
    initialize: (term, genesis) => transact((writing) => initialize(writing, term, genesis)),
    addToSnapshot: (term, part) =>
      transact((writing) => underLease(writing, term, () => addToSnapshot(writing, term, part))),
    finishSnapshot: (term, end) =>
      transact((writing) => underLease(writing, term, () => finishSnapshot(writing, term, end))),
    dropSnapshot: (term) =>
      transactRaw((writing) => underLease(writing, term, () => dropSnapshot(writing, term))),
    acceptBlocks: (blocks) => transactRaw((writing) => acceptBlocks(writing, blocks)),
    acceptOwnBlocks: (term, blocks) =>
      transactRaw((writing) =>
        underLease(writing, term, async () => ok(await acceptBlocks(writing, blocks))),
      ),
    closeSlots: (term, upTo) =>
      transactRaw((writing) => underLease(writing, term, () => closeSlots(writing, term, upTo))),
    book: (term, booking) =>
      transactRaw((writing) => underLease(writing, term, () => book(writing, term, booking))),
    commitSlots: (term, commits, tries) =>
      transact((writing) => underLease(writing, term, () => commitSlots(writing, commits, tries))),
    buildTries: (term, build) =>
      transactRaw((writing) => underLease(writing, term, () => buildTries(writing, term, build))),
    followSlots: (term, slots) =>
      transact((writing) => underLease(writing, term, () => followSlots(writing, term, slots))),
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
    slotContents: (from, to) => lookRaw((reading) => slotContents(reading, from, to)),
    pruneLog: (request) => transact((writing) => pruneLog(writing, request)),
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
function turnsOf({ writer: client, raw, statements: sql }: WriterDatabase, turns: SerialQueue) {
  function transact<T>(work: (writing: Writing) => Promise<T>): Promise<T> {
    const whole = async (tx: Writing['tx']) => {
      await sql.beginWriting(tx)
      return work({ tx, sql })
    }
    return turns.take(() => client.$transaction(whole, { timeout: transactionTimeoutMs }))
  }

  /** The same in raw statements alone, which cost the program less. */
  function transactRaw<T>(work: (writing: RawWriting) => Promise<T>): Promise<T> {
    return turns.take(() =>
      raw.transact(async (tx) => {
        await sql.beginWriting(tx)
        return work({ tx, sql })
      }),
    )
  }

  /** A read beside the writes, as of all former ones. */
  function look<T>(work: (writing: Writing) => Promise<T>): Promise<T> {
    return turns.take(() => work({ tx: client, sql }))
  }

  function lookRaw<T>(work: (writing: RawWriting) => Promise<T>): Promise<T> {
    return turns.take(() => work({ tx: raw, sql }))
  }

  return { transact, transactRaw, look, lookRaw }
}
