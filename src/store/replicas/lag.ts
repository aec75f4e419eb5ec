/** By how long replicas are behind, by the clock of this process alone. */

/** What the primary had when. */
export interface PrimaryPast {
  /** The primary is at a position now. */
  add(lsn: bigint): void
  /** For how long the primary has had what a replica at a position lacks, in milliseconds; 0 where it lacks nothing. */
  lagOf(lsn: bigint): number
}

/** Nothing is known yet. */
export function createPrimaryPast(): PrimaryPast {
  const samples: { readonly lsn: bigint; readonly at: number }[] = []

  function add(lsn: bigint): void {
    const newest = samples.at(-1)
    // After a failover the primary may be at an earlier position than the former one was.
    if (newest !== undefined && lsn < newest.lsn) samples.length = 0
    if (newest?.lsn !== lsn) samples.push({ lsn, at: performance.now() })
    if (samples.length > mostSamples) samples.shift()
  }

  function lagOf(lsn: bigint): number {
    const lacking = samples.find((one) => one.lsn > lsn)
    return lacking === undefined ? 0 : performance.now() - lacking.at
  }

  return { add, lagOf }
}

/** One a second: more than an hour. */
const mostSamples = 4_000
