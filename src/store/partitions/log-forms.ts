import { joined } from '../../lib/shared-read.ts'
import type { LogPartition } from '../sql/statements.ts'

/**
 * The form of the log (one table, partitions or shards), as this process knows it (docs/decisions/046-partitions.md). This process
 * refreshes it while it reads the database, by separate statements, so a log in one table costs only an occasional refresh.
 */

export interface LogForm {
  /** Partitions in order; empty if the log is in one table. */
  readonly partitions: readonly LogPartition[]
  /** Partitions that statements may name: they have rows that are not pruned, and are not about to be split. */
  readonly named: readonly LogPartition[]
  /** Partitions that are about to be split. */
  readonly splitting: readonly LogPartition[]
  /** For a table that will become the first partition: a constraint checks that every row is before this position. */
  readonly checkedTo: number | undefined
  /** Whether the functions of a sharded log read it, because it is in shards on several servers or soon will be. */
  readonly isSharded: boolean
  /** Position of the published tip at the time of the refresh. */
  readonly seq: number
  /** Last pruned position at the time of the refresh. */
  readonly prunedSeq: number
}

/** The known form of the log of one database. */
export interface LogForms {
  /** Returns the form at the last refresh. */
  form(): LogForm
  /** Returns the partitions that statements may name; empty if the last refresh is more than a second ago. */
  named(): readonly LogPartition[]
  /** Refreshes an old form. Returns a promise to wait for if the form is older than `maxAgeMs`, and `undefined` otherwise. */
  settle(maxAgeMs?: number): Promise<void> | undefined
  /** Records the form that a task of this process has read. */
  record(form: LogForm): void
}

/** The form before the first refresh. */
const inOneTable: LogForm = {
  ...{ partitions: [], named: [], splitting: [], checkedTo: undefined },
  ...{ isSharded: false, seq: 0, prunedSeq: 0 },
}

/** Creates the forms. The first `settle` reads the form for the first time. */
export function createLogForms(read: () => Promise<LogForm>): LogForms {
  let known = inOneTable
  let knownAt = Number.NEGATIVE_INFINITY
  const refresh = joined(async () => {
    const begun = performance.now()
    record(await read(), begun)
  })

  function record(form: LogForm, at = performance.now()): void {
    if (at < knownAt) return
    known = form
    knownAt = at
  }

  function settle(maxAgeMs = defaultMaxFormAgeMs): Promise<void> | undefined {
    const age = performance.now() - knownAt
    if (age > maxAgeMs) return refresh()
    // A caller that waits for a refresh gets its failure.
    if (age > (known.partitions.length > 0 ? partitionedMs : inOneTableMs))
      refresh().catch(() => {})
    return undefined
  }

  return {
    form: () => known,
    named: () => (performance.now() - knownAt < maxNamedAgeMs ? known.named : []),
    settle,
    record,
  }
}

/** Milliseconds between two refreshes while the database is read. */
const inOneTableMs = 2_000
const partitionedMs = 400

/** Maximum age in milliseconds of a form whose partitions statements may name. An announced partition can be removed soon after this. */
export const maxNamedAgeMs = 1_000

/** Maximum age in milliseconds of a form. For this time, reads may return rows that were pruned after the log became partitioned. */
export const defaultMaxFormAgeMs = 10_000
