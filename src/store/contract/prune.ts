import type { SlotIndex } from '../../protocol/primitives.ts'

/** The limits of one call that prunes the log. */
export interface PruneRequest {
  /** Number of newest milestones whose rows are retained. */
  readonly milestones: number
  /** Maximum number of rows to prune. */
  readonly rows: number
}

export interface PruneResult {
  /** Last pruned position. */
  readonly prunedSeq: number
  /** Whether no further row has to be pruned. */
  readonly isDone: boolean
}

/** The limits of one call that prunes blocks. */
export interface PruneBlocksRequest {
  /** Number of slots, counted back from the newest block, whose blocks are retained. */
  readonly slots: number
  /** Blocks of validators are retained from this slot on, because their votes are not counted yet. */
  readonly votesBefore: SlotIndex
  /** Maximum number of blocks to prune. */
  readonly rows: number
}

export interface PruneBlocksResult {
  readonly pruned: number
  /** Whether no further block has to be pruned. */
  readonly isDone: boolean
}

/** Writes that prune old rows, and one that creates the next partition in advance. */
export interface PruneWrites {
  /**
   * Prunes the oldest rows of the log: rows of milestones before the newest `milestones`, at most `rows` per call. Needs no lease,
   * because every process prunes the same rows. Milestones themselves are not pruned.
   */
  pruneLog(keep: PruneRequest): Promise<PruneResult>
  /** Creates the next partition of a partitioned log if no free partition is left. */
  extendLog(): Promise<void>
  /** Prunes old blocks without transactions, at most `rows` per call. Needs no lease, because every process prunes the same blocks. */
  pruneBlocks(keep: PruneBlocksRequest): Promise<PruneBlocksResult>
}
