/** A token bucket: something that is spent, and fills again evenly up to a capacity. */

/** A bucket; it begins full. */
export interface TokenBucket {
  /** Spends some where so many are there, by default as many; gives otherwise in how many seconds they are, at least one. */
  take(count: number, needed?: number): number | undefined
  /** Spends some that may not be there: then it has to fill first. It never makes a debt of more than the capacity. */
  spend(count: number): void
  /** Whole ones that are there. */
  level(): number
  /** In how many seconds it is full. */
  secondsToFull(): number
}

/** How large it is, and how fast it fills. */
export interface Fill {
  readonly capacity: number
  readonly perSecond: number
}

/** Fills by a clock in milliseconds that never goes back. */
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
      // What was taken by more than there was is a debt that stays, for it may be given back.
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
