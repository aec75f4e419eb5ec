/** Findings of a check of a database. */

/** Codes of findings. Each names the first table to inspect. */
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

/** One inconsistency in the database. */
export interface Finding {
  readonly code: FindingCode
  /** Address, slot, output or position of the inconsistency, as text for operators. */
  readonly at: string
}

/** Receives the findings and the progress of a check. */
export interface CheckReport {
  found(code: FindingCode, at: string): void
  /** Reports that `rows` more rows were read. */
  advance(rows: number): void
  readonly signal: AbortSignal
}

/** Maximum number of findings per statement. If there are more, the table as a whole is wrong. */
export const maxFindings = 100n

/** Whether a stored row has the values that the check computed. */
export function isSame(stored: object, computed: object): boolean {
  const values = new Map<string, unknown>(Object.entries(stored))
  return Object.entries(computed).every(([name, value]) => values.get(name) === value)
}
