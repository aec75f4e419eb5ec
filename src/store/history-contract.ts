import type { Hex } from '../lib/hex.ts'

/** What a process knows of the history of its database: src/store/history.ts. */

/** The writing side of it. */
export interface HistoryChecks {
  /** Throws `HistoryRewound` where the database lacks what this process, or another one on it, has seen. */
  checkHistory(): Promise<void>
}

/** What it came to. */
export interface HistoryState {
  /** Whether the last write was refused because the database lacks what was seen of it. */
  isRewound(): boolean
}

/** What a database says of its history. */
export interface HistoryFacts {
  /** `null` before the ledger is initialized. */
  readonly logId: Hex | null
  /** The newest slot of a process that did not find its history again. */
  readonly rewoundFrom: number | bigint | null
  /** The place after the last one of the inbox that is taken; `null` where the lease was never taken. */
  readonly nextInbox: number | bigint | null
  /** The id of the commitment of the slot that was asked for. */
  readonly commitmentId: Hex | null
}
