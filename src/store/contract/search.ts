import type { Hex } from '../../lib/hex.ts'
import type { BlockRow, Milestone, OutputRow, TransactionRow } from '../rows.ts'

/** Searches by the first digits of an id. Each is one index range. */
export interface SearchReader {
  blocksWithin(range: IdRange): Promise<BlockRow[]>
  transactionsWithin(range: IdRange): Promise<TransactionRow[]>
  /** Milestones by commitment id. */
  milestonesWithin(range: IdRange): Promise<Milestone[]>
  /** Outputs, spent or not. */
  outputsWithin(range: IdRange): Promise<OutputRow[]>
}

/** A range of ids in byte order, both ends inclusive. The ends may be shorter than an id. */
export interface IdRange {
  readonly from: Hex
  readonly to: Hex
  readonly limit: number
}
