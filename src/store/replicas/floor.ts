/** What a process has acknowledged, which its reads must have. */
export interface Floor {
  /** Up to here in the write-ahead log of the primary. */
  lsn: bigint
  /** The primary cannot say whether a replica lacks what was acknowledged; reads go on without it. */
  isExcused: boolean
}

/** No server has it: the primary could not be asked. */
export const unknownLsn = 2n ** 64n
