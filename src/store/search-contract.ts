import type { Hex } from '../lib/hex.ts'
import type { BlockRow, Milestone, OutputRow, TransactionRow } from './rows.ts'

/** Reads of what has an id that begins with some digits: each is one range of an index. */
export interface SearchReader {
  blocksWithin(range: IdRange): Promise<BlockRow[]>
  transactionsWithin(range: IdRange): Promise<TransactionRow[]>
  /** By the id of the commitment. */
  milestonesWithin(range: IdRange): Promise<Milestone[]>
  /** Outputs, spent or not. */
  outputsWithin(range: IdRange): Promise<OutputRow[]>
}

/** Ids in the order of their bytes, both ends included; the ends need not be as long as an id. */
export interface IdRange {
  readonly from: Hex
  readonly to: Hex
  readonly limit: number
}
