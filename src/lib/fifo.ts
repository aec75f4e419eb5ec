/** A queue that stays fast when it is long; an array moves all its items for each that leaves. */

/** First in, first out. */
export interface Fifo<T> {
  readonly length: number
  push(item: T): void
  shift(): T | undefined
}

/** An empty one. */
export function createFifo<T>(): Fifo<T> {
  const items: (T | undefined)[] = []
  let first = 0

  return {
    get length() {
      return items.length - first
    },
    push: (item) => void items.push(item),
    shift: () => {
      if (first === items.length) return undefined
      const item = items[first]
      items[first++] = undefined
      if (first === items.length || first > leastMoved) {
        if (first * 2 >= items.length) first -= items.splice(0, first).length
      }
      return item
    },
  }
}

/** Fewer left places are kept, for removing them moves all the others. */
const leastMoved = 1_024
