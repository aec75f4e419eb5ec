import type { Hex } from '../../lib/hex.ts'

/** Checks of the history of a database: src/store/history-guard.ts. */

/** The check on the writing side. */
export interface HistoryChecks {
  /** Throws `HistoryRewound` if the database lacks rows that this process, or another process on the database, has seen. */
  checkHistory(): Promise<void>
}

/** The result of the last check. */
export interface HistoryState {
  /** Whether the last write was refused because the database lacks rows that were seen. */
  isRewound(): boolean
}

/** The facts about the history that the database has. */
export interface HistoryFacts {
  /** Id of the log; `null` before the ledger is initialized. */
  readonly logId: Hex | null
  /** Newest slot that a process had seen when it found that the database lacks it; otherwise `null`. */
  readonly rewoundFrom: number | bigint | null
  /** First unused position of the inbox; `null` if the lease was never taken. */
  readonly nextInbox: number | bigint | null
  /** Id of the commitment of the requested slot. */
  readonly commitmentId: Hex | null
}
