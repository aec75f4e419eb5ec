/** A queue by priority that stays fast when it is long: adding and removing take time proportional to the logarithm of its length. */

/** Items in an order that does not change while they are in the heap. */
export interface Heap<T> {
  add(item: T): void
  /** Returns the first item, and leaves it. */
  first(): T | undefined
  /** Removes the first item. */
  shift(): void
}

/** Creates an empty heap. */
export function createHeap<T extends object>(isBefore: (a: T, b: T) => boolean): Heap<T> {
  /** A binary heap: no item is before its parent, which is at half of its place. */
  const items: T[] = []

  function add(item: T): void {
    let place = items.length
    for (;;) {
      const parentPlace = (place - 1) >> 1
      const parent = items[parentPlace]
      if (parent === undefined || !isBefore(item, parent)) break
      items[place] = parent
      place = parentPlace
    }
    items[place] = item
  }

  function shift(): void {
    const last = items.pop()
    if (last === undefined || items.length === 0) return
    let place = 0
    for (;;) {
      const left = 2 * place + 1
      const one = items[left]
      const other = items[left + 1]
      const isOther = one !== undefined && other !== undefined && isBefore(other, one)
      const child = isOther ? other : one
      if (child === undefined || !isBefore(child, last)) break
      items[place] = child
      place = isOther ? left + 1 : left
    }
    items[place] = last
  }

  return { add, first: () => items[0], shift }
}
