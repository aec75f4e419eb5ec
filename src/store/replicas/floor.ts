/** Position that every read must include, because the process has acknowledged writes up to it. */
export interface Floor {
  /** Position in the write-ahead log of the primary, with its timeline. */
  lsn: bigint
  /** Whether reads ignore the floor, because the primary is away and cannot tell whether a replica lacks acknowledged writes. */
  isExcused: boolean
}

/** Position that no server reaches, for a write whose position the primary could not report. */
export const unknownLsn = 2n ** 96n
