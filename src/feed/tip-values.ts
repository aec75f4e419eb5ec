import type { Tail } from './tail.ts'

/** What is read once for each tip of the log, however many subscribers want it. */

/** Reads of values that are as of the tip. */
export interface TipValues {
  /** The value of that name; read again when the log has moved, and after a failure. */
  read<T>(name: string, look: () => Promise<T>): Promise<T>
}

interface Kept {
  readonly slot: number
  readonly era: number
  readonly value: Promise<unknown>
}

/** Creates them, with nothing kept. */
export function createTipValues({ tip }: Pick<Tail, 'tip'>): TipValues {
  const keptByName = new Map<string, Kept>()

  return {
    read: <T>(name: string, look: () => Promise<T>): Promise<T> => {
      const { slot, era } = tip()
      const kept = keptByName.get(name)
      // A name is always that of the same kind of value.
      if (kept?.slot === slot && kept.era === era) return kept.value as Promise<T>
      const value = look()
      const one = { slot, era, value }
      keptByName.set(name, one)
      value.catch(() => {
        if (keptByName.get(name) === one) keptByName.delete(name)
      })
      return value
    },
  }
}
