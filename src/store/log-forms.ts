import type { LogPartition } from './sql/statements.ts'

/**
 * Whether the log is kept in partitions, as this process knows it (docs/decisions/046-partitions.md). It is looked at while the
 * database is read, and never in a statement that reads: a log in one table costs nothing but a look now and then.
 */

/** How the log is kept. */
export interface LogForm {
  /** In their order; none where the log is in one table. */
  readonly partitions: readonly LogPartition[]
  /** Those that statements may name: they have rows that are not pruned, and are not about to be split. */
  readonly named: readonly LogPartition[]
  /** Those that are about to be split. */
  readonly leaving: readonly LogPartition[]
  /** Of a table that is to become the first partition: every row is checked to be before this position. */
  readonly checkedTo: number | undefined
  /** Whether it is read by the functions of a log in shards on several servers, where it is or soon will be. */
  readonly isSharded: boolean
  /** The published tip then, and what was pruned. */
  readonly seq: number
  readonly prunedSeq: number
}

/** The form of one database. */
export interface LogForms {
  /** As it was when it was last looked at. */
  form(): LogForm
  /** The partitions that statements may name, as of less than a second ago; none where that is not known. */
  named(): readonly LogPartition[]
  /** Looks again where what is known is old; a promise where it is older than `mostAgeMs`, and nothing to wait for otherwise. */
  settle(mostAgeMs?: number): Promise<void> | undefined
  /** Takes what a task of this process has seen. */
  saw(form: LogForm): void
}

/** Before the first look. */
const inOneTable: LogForm = {
  ...{ partitions: [], named: [], leaving: [], checkedTo: undefined },
  ...{ isSharded: false, seq: 0, prunedSeq: 0 },
}

/** Nothing is read before it is asked. */
export function createLogForms(read: () => Promise<LogForm>): LogForms {
  let known = inOneTable
  let knownAt = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | undefined

  function look(): Promise<void> {
    const begun = performance.now()
    looking ??= read()
      .then((form) => saw(form, begun))
      .finally(() => {
        looking = undefined
      })
    return looking
  }

  function saw(form: LogForm, at = performance.now()): void {
    if (at < knownAt) return
    known = form
    knownAt = at
  }

  function settle(mostAgeMs = mostUnknownMs): Promise<void> | undefined {
    const age = performance.now() - knownAt
    if (age > mostAgeMs) return look()
    // Those who wait for the next look learn why it failed.
    if (age > (known.partitions.length > 0 ? partitionedMs : inOneTableMs)) look().catch(() => {})
    return undefined
  }

  return {
    form: () => known,
    named: () => (performance.now() - knownAt < mostNamedMs ? known.named : []),
    settle,
    saw,
  }
}

/** Between two looks while the database is read. */
const inOneTableMs = 2_000
const partitionedMs = 400

/** A partition is not named by statements for longer, so that one which is announced to go can go soon after. */
export const mostNamedMs = 1_000

/** Rows that were pruned after a log became partitioned may be shown for as long. */
export const mostUnknownMs = 10_000
