/** What a check of a database found. */

/** What can be wrong; each names the first table to look at. */
export type FindingCode =
  | 'LOG_POSITION_WRONG'
  | 'LOG_ROW_WRONG'
  | 'HISTORY_BROKEN'
  | 'COMMITMENT_WRONG'
  | 'COMMITMENT_RANGE_WRONG'
  | 'COMMITMENT_ROOTS_WRONG'
  | 'TRIE_PAGE_WRONG'
  | 'BALANCE_WRONG'
  | 'TOKEN_BALANCE_WRONG'
  | 'UNSPENT_OUTPUT_WRONG'
  | 'OUTPUT_COUNT_WRONG'
  | 'BALANCE_RANGE_WRONG'
  | 'CHAIN_STATE_WRONG'
  | 'ACTIVITY_WRONG'

/** One thing that is wrong. */
export interface Finding {
  readonly code: FindingCode
  /** Where, for people: the address, slot, output or position. */
  readonly at: string
}

/** What a check reports to. */
export interface CheckReport {
  found(code: FindingCode, at: string): void
  /** So many rows more were read. */
  advance(rows: number): void
  readonly signal: AbortSignal
}
