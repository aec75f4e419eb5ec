/** The limit for one transaction that counts activity. */
export interface FillRequest {
  /** Maximum number of log rows. A single slot may have more. */
  readonly rows: number
}

/** The counted slots and rows, and whether no slot is left. */
export interface FillResult {
  readonly slots: number
  readonly rows: number
  readonly isDone: boolean
}

/** Nothing was forgotten, because blocks of a slot are no longer there to be counted again: `BLOCK_RETENTION` has removed them. */
export interface BlocksPruned {
  readonly code: 'BLOCKS_PRUNED'
  /** The first such slot. */
  readonly slot: number
}
