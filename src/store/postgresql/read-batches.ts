import type { PoolClient } from 'pg'
import type { Rows } from '../database.ts'
import { pipelineOf } from './pipeline.ts'
import type { Statement } from './statements.ts'

/**
 * Single reads of PostgreSQL. While connections are busy, the reads of one event loop turn share a connection and a message: a message
 * and its response cost this process and the server as much as a short read.
 */

/** A read that waits for a connection. */
interface Read {
  readonly statement: Statement
  readonly resolve: (rows: Rows) => void
  readonly reject: (failure: unknown) => void
}

/** Creates the batches of a connection pool. */
export function createReadBatches({ take }: { take(): Promise<PoolClient> }) {
  /** Connections with a batch. */
  let busy = 0
  /** Reads of this turn. */
  let batch: Read[] = []

  /** Runs a statement. A failure of another statement in its batch does not fail it. */
  function run(statement: Statement): Promise<Rows> {
    return new Promise((resolve, reject) => {
      const read = { statement, resolve, reject }
      if (busy < maxUnbatched) return void send([read])
      if (batch.length === 0) setImmediate(sendBatch)
      batch.push(read)
      if (batch.length === maxBatch) sendBatch()
    })
  }

  function sendBatch(): void {
    const reads = batch
    batch = []
    if (reads.length > 0) void send(reads)
  }

  async function send(reads: readonly Read[]): Promise<void> {
    busy++
    try {
      await exchange(reads)
    } catch (failure) {
      for (const { reject } of reads) reject(failure)
    } finally {
      busy--
    }
  }

  async function exchange(reads: readonly Read[]): Promise<void> {
    const client = await take()
    const pipeline = pipelineOf(client)
    const answers = reads.map(({ statement, resolve }) => pipeline.query(statement).then(resolve))
    pipeline.flush()
    const outcomes = await Promise.allSettled(answers)
    const failedAt = outcomes.findIndex(({ status }) => status === 'rejected')
    // The server may report a failure before it closes the connection.
    client.release(failedAt !== -1)
    const failure = outcomes[failedAt]
    if (failure?.status !== 'rejected') return
    const [failed, ...skipped] = reads.slice(failedAt)
    failed?.reject(failure.reason)
    // The server skips all statements after the one that failed.
    for (const read of skipped) void send([read])
  }

  return { run }
}

/** Connections that may be busy before reads share one. */
const maxUnbatched = 2

/** A read that waits for a long statement of another read waits for no more than this many. */
const maxBatch = 8
