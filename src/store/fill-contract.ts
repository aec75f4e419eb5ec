import type { SlotIndex } from '../protocol/primitives.ts'

/** Which piece of the slots is counted next. */
export interface FillRequest {
  /** The newest slot of the piece; left out, the newest slot that is not counted. */
  readonly upTo?: SlotIndex | undefined
  /** The most rows of the log of a piece, unless a single slot has more. */
  readonly rows: number
}

/** What was counted. */
export interface FillResult {
  readonly slots: number
  readonly rows: number
  /** Where the next piece ends; `undefined` if there is none. */
  readonly next: SlotIndex | undefined
}
