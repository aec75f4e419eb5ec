/** A queue that stays fast when it is long; an array moves all its items for each that leaves. */

/** First in, first out. */
export interface Fifo<T> {
  readonly length: number
  push(item: T): void
  shift(): T | undefined
}

/** An empty one. */
export function createFifo<T>(): Fifo<T> {
  return new ArrayFifo()
}

class ArrayFifo<T> implements Fifo<T> {
  #items: (T | undefined)[] = []
  #first = 0

  get length(): number {
    return this.#items.length - this.#first
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    const items = this.#items
    if (this.#first === items.length) return undefined
    const item = items[this.#first]
    items[this.#first++] = undefined
    if (this.#first === items.length || this.#first > leastMoved) {
      if (this.#first * 2 >= items.length) this.#first -= items.splice(0, this.#first).length
    }
    return item
  }
}

/** Fewer left places are kept, for removing them moves all the others. */
const leastMoved = 1_024
