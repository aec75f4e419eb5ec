import type { Tail } from './tail.ts'

/** Cache of values that are read once for each tip of the log, for all subscribers. */

/** Reads values as of the tip. */
export interface TipValues {
  /** Returns the cached value of a name. `load` is called again after the tip has moved, and after a failure. */
  read<T>(name: string, load: () => Promise<T>): Promise<T>
}

interface Cached {
  readonly slot: number
  readonly era: number
  readonly value: Promise<unknown>
}

/** Creates an empty cache. */
export function createTipValues({ tip }: Pick<Tail, 'tip'>): TipValues {
  const cacheByName = new Map<string, Cached>()

  return {
    read: <T>(name: string, load: () => Promise<T>): Promise<T> => {
      const { slot, era } = tip()
      const cached = cacheByName.get(name)
      // Each name has values of one type.
      if (cached?.slot === slot && cached.era === era) return cached.value as Promise<T>
      const value = load()
      const entry = { slot, era, value }
      cacheByName.set(name, entry)
      value.catch(() => {
        if (cacheByName.get(name) === entry) cacheByName.delete(name)
      })
      return value
    },
  }
}
