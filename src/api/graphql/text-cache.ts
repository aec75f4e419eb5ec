/** A cache of what texts mean, bounded by the length of the texts: what is made of one is as large as the text is long. */

/** Values by text; the least recently used go first. */
export interface TextCache<V> {
  get(text: string): V | undefined
  /** Keeps a value, unless its text alone is longer than the cache may be. */
  set(text: string, value: V): void
}

/** A cache of texts with so many characters in all. */
export function createTextCache<V>(capacity: number): TextCache<V> {
  const kept = new Map<string, V>()
  let size = 0

  function remove(text: string): void {
    if (kept.delete(text)) size -= sizeOf(text)
  }

  return {
    get: (text) => {
      const value = kept.get(text)
      if (value === undefined) return undefined
      // A map iterates its entries in the order of their insertion.
      kept.delete(text)
      kept.set(text, value)
      return value
    },
    set: (text, value) => {
      remove(text)
      if (sizeOf(text) > capacity) return
      kept.set(text, value)
      size += sizeOf(text)
      for (const oldest of kept.keys()) {
        if (size <= capacity) return
        remove(oldest)
      }
    },
  }
}

/** An entry has a size also where its text is short. */
function sizeOf(text: string): number {
  return text.length + overhead
}

const overhead = 100
