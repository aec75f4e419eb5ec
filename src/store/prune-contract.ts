import type { SlotIndex } from '../protocol/primitives.ts'

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

/** Which blocks that carry nothing are kept, and how many may go in one transaction. */
export interface PruneBlocksRequest {
  /** Of how many slots, counted back from the newest block. */
  readonly slots: number
  /** Blocks of validators are kept from this slot on: they are not counted yet. */
  readonly votesBefore: SlotIndex
  readonly rows: number
}

/** How many blocks are gone, and whether there are no more of them. */
export interface PruneBlocksResult {
  readonly pruned: number
  readonly isDone: boolean
}

/** Writes that give up old rows, and make the next partition ahead of time. */
export interface PruneWrites {
  /**
   * Gives up the oldest rows of the log: those of milestones before the newest `milestones`, at most `rows` of them a
   * call. Needs no lease, because every process removes the same rows. Milestones themselves are kept.
   */
  pruneLog(keep: PruneRequest): Promise<PruneResult>
  /** Makes the next partition of the log, where it is in partitions and none is free. */
  extendLog(): Promise<void>
  /** Gives up old blocks that carry nothing, at most `rows` of them a call. Needs no lease, as above. */
  pruneBlocks(keep: PruneBlocksRequest): Promise<PruneBlocksResult>
}
