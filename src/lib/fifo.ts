/** A queue that stays fast when it is long. `Array.shift` moves all remaining items. */

/** A first-in, first-out queue. */
export interface Fifo<T> {
  readonly length: number
  push(item: T): void
  shift(): T | undefined
}

/** Creates an empty queue. */
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
    if (this.#first === items.length || this.#first > maxEmptyPlaces) {
      if (this.#first * 2 >= items.length) this.#first -= items.splice(0, this.#first).length
    }
    return item
  }
}

/** Empty places that the array keeps at its front, because their removal moves all remaining items. */
const maxEmptyPlaces = 1_024
