import { setTimeout as delay } from 'node:timers/promises'
import { err, ok, type Result } from '../../lib/result.ts'
import type { RawTx } from '../client.ts'
import type { Exchange, LogLock, PartitionError, Partitioning } from '../contract/partition.ts'
import type { Database } from '../database.ts'
import { isLockedOut } from '../faults.ts'
import { rawConnection } from '../raw-transactions.ts'
import { type OlderReaders, olderReaders } from '../sql/postgresql/older-readers.ts'
import {
  longReader,
  sessionOnPartition,
  tryLockLog,
  tryLockWriter,
} from '../sql/postgresql/partitions.ts'
import { timeoutsOff } from '../sql/postgresql/transaction.ts'

/** Locks other sessions out of the log of PostgreSQL while one table replaces another. */

/** Runs `work` with two connections and a lock. They are closed at its end. */
export async function withLogLock<T>(
  { connect }: Pick<Database, 'connect'>,
  options: Pick<Partitioning, 'signal' | 'onWaiting'>,
  work: (locking: Pick<Partitioning, 'raw' | 'beside' | 'lock'>) => Promise<T>,
): Promise<T> {
  const connection = await connect()
  const other = await connect()
  const raw = rawConnection(async () => connection)
  const beside = rawConnection(async () => other)
  try {
    return await work({ raw, beside, lock: createLogLock({ raw, beside, ...options }) })
  } finally {
    await other.dispose()
    await connection.dispose()
  }
}

type LockDeps = Pick<Partitioning, 'raw' | 'beside' | 'signal' | 'onWaiting'>

function createLogLock(deps: LockDeps): LogLock {
  const { raw, signal, onWaiting } = deps
  let longestMs = 0

  /** Records how long the log was locked. */
  function measure(begun: number): void {
    longestMs = Math.max(longestMs, performance.now() - begun)
  }

  async function repeated(attempt: () => Promise<boolean>): Promise<Result<void, PartitionError>> {
    while (!signal.aborted) {
      const reader = await longReader(raw)
      if (reader !== undefined) onWaiting(reader)
      else if (await unlessLockedOut(attempt)) return ok(undefined)
      await delay(pauseMs)
    }
    return err({ code: 'PARTITION_INTERRUPTED' })
  }

  /** Resolves to `false` if another session has locked a table of the attempt, as autovacuum does with a table that was just filled. */
  async function unlessLockedOut(attempt: () => Promise<boolean>): Promise<boolean> {
    try {
      return await attempt()
    } catch (failure) {
      if (!isLockedOut(failure)) throw failure
      onWaiting((await sessionOnPartition(raw)) ?? 'a session with a lock on a partition')
      return false
    }
  }

  /** Waits, without a deadline, until no session on this server or a standby reads a state from before this call. */
  async function afterReaders(): Promise<Result<void, PartitionError>> {
    const older = await olderReaders(raw)
    return await repeated(async () => {
      const reader = await older.find(raw)
      if (reader !== undefined) onWaiting(reader)
      return reader === undefined
    })
  }

  return {
    afterReaders,
    under: (work) => repeated(() => tryUnder(raw, work, measure)),
    afterWriters: (exchange) => repeated(() => tryAfterWriters(deps, exchange, measure)),
    longestMs: () => longestMs,
  }
}

type Measure = (begun: number) => void

/** Runs `work` under the lock of the log. Resolves to `false` if another session holds the lock. */
async function tryUnder(
  raw: LockDeps['raw'],
  work: (tx: RawTx) => Promise<void>,
  measure: Measure,
): Promise<boolean> {
  return await raw.transact(async (tx) => {
    await begin(tx)
    if (!(await tryLockLog(tx))) return false
    const begun = performance.now()
    await work(tx)
    measure(begun)
    return true
  })
}

/** Locks out the writer, prepares the exchange, and runs it under the lock of the log. Resolves to `false` if any of this has to wait. */
async function tryAfterWriters(
  { raw, beside, onWaiting }: LockDeps,
  { prepare, work }: Exchange,
  measure: Measure,
): Promise<boolean> {
  return await raw.transact(async (tx) => {
    await begin(tx)
    if (!(await tryLockWriter(tx))) return false
    const begun = performance.now()
    try {
      if (!(await prepare())) return false
      const older = await olderReaders(beside)
      const reader = await lastOf(older, beside)
      if (reader !== undefined) {
        onWaiting(reader)
        return false
      }
      if (!(await tryLockLog(tx))) return false
      await work(tx)
      return true
    } finally {
      measure(begun)
    }
  })
}

/** Begins the transaction with the timeouts of a writer: a process that pauses here would block all others. */
async function begin(tx: RawTx): Promise<void> {
  await tx.$executeRawUnsafe(timeoutsOff)
  await tx.$executeRawUnsafe(`SET LOCAL idle_in_transaction_session_timeout = '2s'`)
}

/** Returns a session that still reads an older state after a wait of at most 200 ms; `undefined` if there is none. */
async function lastOf(older: OlderReaders, on: RawTx): Promise<string | undefined> {
  for (let waited = 0; ; waited += stepMs) {
    const reader = await older.findHere(on)
    if (reader === undefined || waited >= maxWaitMs) return reader
    await delay(stepMs)
  }
}

const maxWaitMs = 200
const stepMs = 10

/** Pause between two attempts, in which sessions that were locked out can continue. */
const pauseMs = 500
