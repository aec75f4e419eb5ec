import { setTimeout as delay } from 'node:timers/promises'
import { err, ok, type Result } from '../lib/result.ts'
import type { RawTx } from './client.ts'
import type { Exchange, LogLock, PartitionError, Partitioning } from './partition-contract.ts'
import { type OlderReaders, olderReaders } from './sql/postgresql/older-readers.ts'
import { longReader, tryLockLog, tryLockWriter } from './sql/postgresql/partitions.ts'

/** Keeps others from the log of PostgreSQL while one table takes the place of another. */
export function createLogLock({
  raw,
  beside,
  signal,
  onWaiting,
}: Pick<Partitioning, 'raw' | 'beside' | 'signal' | 'onWaiting'>): LogLock {
  let longestMs = 0

  function measure(begun: number): void {
    longestMs = Math.max(longestMs, performance.now() - begun)
  }

  async function attempt(work: (tx: RawTx) => Promise<void>): Promise<boolean> {
    return await raw.transact(async (tx) => {
      await begin(tx)
      if (!(await tryLockLog(tx))) return false
      const begun = performance.now()
      await work(tx)
      measure(begun)
      return true
    })
  }

  async function attemptAfterWriters({ prepare, work }: Exchange): Promise<boolean> {
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

  async function repeated(attempts: () => Promise<boolean>): Promise<Result<void, PartitionError>> {
    while (!signal.aborted) {
      const reader = await longReader(raw)
      if (reader !== undefined) onWaiting(reader)
      else if (await attempts()) return ok(undefined)
      await delay(pauseMs)
    }
    return err({ code: 'PARTITION_INTERRUPTED' })
  }

  /** Waits, for as long as it takes, until no session reads as of an earlier moment than this, here or at a standby. */
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
    under: (work) => repeated(() => attempt(work)),
    afterWriters: (exchange) => repeated(() => attemptAfterWriters(exchange)),
    longestMs: () => longestMs,
  }
}

/** As a writer does: a process that is paused here would stop all others. */
async function begin(tx: RawTx): Promise<void> {
  await tx.$executeRawUnsafe(`SET LOCAL idle_in_transaction_session_timeout = '2s'`)
}

/** Who of them reads still after a short while. */
async function lastOf(older: OlderReaders, on: RawTx): Promise<string | undefined> {
  for (let waited = 0; ; waited += stepMs) {
    const reader = await older.findHere(on)
    if (reader === undefined || waited >= mostWaitMs) return reader
    await delay(stepMs)
  }
}

const mostWaitMs = 200
const stepMs = 10

/** Between two attempts, so that those who were kept out have their turn. */
const pauseMs = 500
