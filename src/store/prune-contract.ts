/** What of the log is to be kept, and how much may go in one transaction. */
export interface PruneRequest {
  readonly milestones: number
  readonly rows: number
}

/** Up to where the log is gone now, and whether more of it is to go. */
export interface PruneResult {
  readonly prunedSeq: number
  readonly isDone: boolean
}
