/** Lag of replicas, measured by the clock of this process alone. */

/** Samples of the position of the primary over time. */
export interface PrimaryPositions {
  /** Records the present position of the primary. */
  add(lsn: bigint): void
  /** Milliseconds since the primary was first seen beyond the position of a replica; 0 if the replica lacks nothing. */
  lagOf(lsn: bigint): number
}

/** Creates an empty list of samples. */
export function createPrimaryPositions(): PrimaryPositions {
  const samples: { readonly lsn: bigint; readonly at: number }[] = []

  function add(lsn: bigint): void {
    const newest = samples.at(-1)
    // After a failover, the new primary may be at an earlier position than the old one.
    if (newest !== undefined && lsn < newest.lsn) samples.length = 0
    if (newest?.lsn !== lsn) samples.push({ lsn, at: performance.now() })
    if (samples.length > maxSamples) samples.shift()
  }

  function lagOf(lsn: bigint): number {
    const lacking = samples.find((one) => one.lsn > lsn)
    return lacking === undefined ? 0 : performance.now() - lacking.at
  }

  return { add, lagOf }
}

/** Maximum number of samples: more than an hour at one per second. */
const maxSamples = 4_000
