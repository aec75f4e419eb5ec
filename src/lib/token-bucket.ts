/** Token buckets, which limit rates. */

/** A bucket of tokens that refills evenly up to its capacity. It starts full. */
export interface TokenBucket {
  /**
   * Takes `count` tokens if the bucket has `needed` of them, by default `count`. Otherwise takes none and returns the seconds until the
   * bucket has `needed` tokens, at least 1.
   */
  take(count: number, needed?: number): number | undefined
  /** Takes tokens even if the bucket lacks them. The resulting debt is at most the capacity. */
  spend(count: number): void
  /** Number of whole tokens in the bucket. */
  level(): number
  /** Seconds until the bucket is full. */
  secondsToFull(): number
}

/** Capacity of a bucket, and the rate at which it refills. */
export interface Fill {
  readonly capacity: number
  readonly perSecond: number
}

/** Creates a bucket. `now` is a monotonic clock in milliseconds. */
export function createTokenBucket({ capacity, perSecond }: Fill, now: () => number): TokenBucket {
  let level = capacity
  let at = now()

  function refill(): void {
    const time = now()
    level = Math.min(capacity, level + ((time - at) / 1_000) * perSecond)
    at = time
  }

  const secondsTo = (wanted: number) => Math.ceil((wanted - level) / perSecond)

  return {
    take: (count, needed = count) => {
      refill()
      if (level < needed) return Math.max(1, secondsTo(needed))
      level -= count
      return undefined
    },
    spend: (count) => {
      refill()
      // A debt that is already larger than the capacity stays, because a negative `count` may repay it.
      level = Math.max(level - count, Math.min(level, -capacity))
    },
    level: () => {
      refill()
      return Math.max(0, Math.floor(level))
    },
    secondsToFull: () => {
      refill()
      return secondsTo(capacity)
    },
  }
}
