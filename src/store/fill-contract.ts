/** How much of what is not counted is counted in one transaction. */
export interface FillRequest {
  /** The most rows of the log, unless a single slot has more. */
  readonly rows: number
}

/** What was counted, and whether all is now. */
export interface FillResult {
  readonly slots: number
  readonly rows: number
  readonly isDone: boolean
}
